package uringcmd

import (
	"strings"
	"testing"
)

func TestNotGeneric(t *testing.T) {
	for _, c := range []struct {
		path  string
		block bool
		want  string
	}{
		{"/dev/nvme0n1", true, "its character device /dev/ng0n1"},
		{"/dev/nvme12n3p1", true, "its character device /dev/ng12n3"},
		{"/dev/sda", true, "is not a character device"},
		{"nvme0n1", false, "is not a character device"},
	} {
		if got := NotGeneric(c.path, c.block).Error(); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.path, got)
		}
	}
}

func TestInspectNoDrive(t *testing.T) {
	if _, err := Inspect("/dev/null"); err == nil || !strings.Contains(err.Error(), "/dev/null is not an NVMe namespace") {
		t.Errorf("error %v", err)
	}
	if err := (&Drive{}).Pollable(); err != nil {
		t.Errorf("a drive that nothing is known of: %v", err)
	}
}
