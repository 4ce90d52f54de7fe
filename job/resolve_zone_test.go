package job

import (
	"strings"
	"testing"
)

func TestZonedDevices(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"rw=write", ""},
		{"rw=write\nwrite_zone_remainder=1\nnorandommap=0", "requires norandommap=1"},
		{"rw=write\nrecover_zbd_write_error=1", "requires continue_on_error"},
		{"rw=read\nrecover_zbd_write_error=1", ""},
		{"rw=write\nrecover_zbd_write_error=1\ncontinue_on_error=write\nverify=crc32c\nioengine=libaio", "needs a synchronous ioengine"},
		{"rw=write\nrecover_zbd_write_error=1\ncontinue_on_error=write\nverify=crc32c", ""},
		{"rw=write\nverify=crc32c\nexperimental_verify=1", "experimental_verify"},
		{"rw=write\nverify=crc32c\ntrim_percentage=10\ntrim_backlog=10", "trim_percentage"},
		{"read_iolog=x", "read_iolog"},
		{"rw=write\ncreate_serialize=0", "create_serialize=0"},
	} {
		_, _, err := loadText(t, &Loader{}, "[a]\nzonemode=zbd\nzonesize=1m\nsize=1m\n"+c.text+"\n")
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
	jobs, _, err := loadText(t, &Loader{}, "[a]\nzonemode=zbd\nwrite_zone_remainder=1\nsize=1m\n")
	if err != nil || !jobs[0].NoRandomMap {
		t.Errorf("write_zone_remainder keeps the random map: %v", err)
	}
	_, warnings, err := loadText(t, &Loader{}, "[a]\nmax_open_zones=2\nsize=1m\n")
	if err != nil || !strings.Contains(strings.Join(warnings, "\n"), "max_open_zones has no effect") {
		t.Errorf("%v, %v: nothing says that max_open_zones has no effect", err, warnings)
	}
}
