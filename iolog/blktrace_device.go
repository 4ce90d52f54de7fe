package iolog

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
)

// FindDevice finds the block device of a number below /dev. Links are not followed.
func FindDevice(major, minor uint32) (string, error) {
	found := ""
	err := filepath.WalkDir("/dev", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Type()&fs.ModeDevice == 0 || e.Type()&fs.ModeCharDevice != 0 {
			return nil //nolint:nilerr // what cannot be read has not the device
		}
		var st syscall.Stat_t
		if syscall.Lstat(path, &st) != nil {
			return nil
		}
		if ma, mi := deviceNumber(uint64(st.Rdev)); ma == major && mi == minor {
			found = path
			return fs.SkipAll
		}
		return nil
	})
	if err == nil && found == "" {
		err = fmt.Errorf("no block device %d:%d below /dev: replay_redirect names another", major, minor)
	}
	return found, err
}

// deviceNumber takes a number apart that stat gave.
func deviceNumber(dev uint64) (major, minor uint32) {
	return uint32(dev>>8&0xfff | dev>>32&^0xfff), uint32(dev&0xff | dev>>12&^0xff)
}
