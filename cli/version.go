package cli

// Tools cut the version at its dashes and compare the part behind "fio-": the level of compatibility stands first.
const (
	level = "fio-3.42"
	own   = "0.1.0"

	// Version is what --version, the banner and the JSON key "fio version" say.
	Version = level + "-fiord-" + own
)
