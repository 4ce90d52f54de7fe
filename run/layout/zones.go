package layout

import "fiord/engines"

// Zones are those of a job with zonemode=zbd.
type Zones interface {
	// Open finds out the zones of f, which has size bytes.
	Open(f *engines.File, size uint64) error
	// Fit cuts the range of f to whole zones.
	Fit(f *engines.File, offset, length, size uint64) (at, n uint64, err error)
}

// openZones comes when the sizes of the files are known and before the options that count in zones are looked at.
func (s *Set) openZones() error {
	if s.env.Zones == nil {
		return nil
	}
	for i := range s.files {
		f := &s.files[i]
		if err := s.env.Zones.Open(f.File, f.real); err != nil {
			return &FileError{Op: "zbd_init_files", Err: err}
		}
	}
	return nil
}

// fitZones comes when everything else is decided.
func (s *Set) fitZones() (err error) {
	if s.env.Zones == nil {
		return nil
	}
	for i := range s.files {
		f := &s.files[i]
		if f.offset, f.length, err = s.env.Zones.Fit(f.File, f.offset, f.length, f.real); err != nil {
			return &FileError{Op: "zbd_setup_files", Err: err}
		}
	}
	return nil
}
