package job

// Options is what fio's job options and fiord's own say of one job. Each option is declared once, as a field with a tag, in the
// order of fio's own table, which is the order of --cmdhelp and of parsing. The tags are documented at Declare.
type Options struct {
	BasicOptions
	SizeOptions
	RandomOptions
	FileOptions
	RuntimeOptions
	VerifyOptions
	IologOptions
	ZoneOptions
	ProcessOptions
	RateOptions
	CreateOptions
	ExitOptions
	LogOptions
	BufferOptions
	StatOptions
	MiscOptions
	OwnOptions
}
