package sysfs

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// facts writes a description as lines of name=text, numbers with a # before them.
func facts(list []Fact) string {
	var b strings.Builder
	for _, f := range list {
		mark := ""
		if f.Number {
			mark = "#"
		}
		fmt.Fprintf(&b, "%s=%s%s\n", f.Name, mark, f.Text)
	}
	return b.String()
}

func TestDescribe(t *testing.T) {
	const pci = "devices/pci0000:00/0000:00:04.0/"
	const subsystem = "devices/virtual/nvme-subsystem/nvme-subsys0/"
	sys := tree(t, map[string]string{
		"dev/block/259:0": "-> ../../" + pci + "nvme/nvme0/nvme0n1",
		"dev/char/240:0":  "-> ../../" + pci + "nvme/nvme0/ng0n1",
		"dev/char/240:9":  "-> ../../" + pci + "nvme/nvme0/ng0n9", // its disk has gone
		"dev/char/1:3":    "-> ../../devices/virtual/mem/null",
		"dev/char/21:0":   "-> ../../" + pci + "host0/0:0:0:0/scsi_generic/sg0",
		"dev/char/240:5":  "-> ../../" + subsystem + "ng1n1",
		"dev/block/253:0": "-> ../../devices/virtual/block/dm-0",

		pci + "numa_node":                                  "1\n",
		pci + "nvme/nvme0/nvme0n1/device":                  "-> ../../nvme0",
		pci + "nvme/nvme0/model":                           "Made Up 9000                            \n",
		pci + "nvme/nvme0/firmware_rev":                    "1.2.3   \n",
		pci + "nvme/nvme0/transport":                       "pcie\n",
		pci + "nvme/nvme0/ng0n1/dev":                       "240:0\n",
		pci + "nvme/nvme0/ng0n9/dev":                       "240:9\n",
		pci + "nvme/nvme0/nvme0n1/size":                    "2048\n",
		pci + "nvme/nvme0/nvme0n1/metadata_bytes":          "8\n",
		pci + "nvme/nvme0/nvme0n1/integrity/format":        "T10-DIF-TYPE1-CRC\n",
		pci + "nvme/nvme0/nvme0n1/queue/scheduler":         "[none] mq-deadline kyber \n",
		pci + "nvme/nvme0/nvme0n1/queue/nr_requests":       "1023\n",
		pci + "nvme/nvme0/nvme0n1/queue/nomerges":          "2\n",
		pci + "nvme/nvme0/nvme0n1/queue/iostats":           "1\n",
		pci + "nvme/nvme0/nvme0n1/queue/io_poll":           "0\n",
		pci + "nvme/nvme0/nvme0n1/queue/write_cache":       "write back\n",
		pci + "nvme/nvme0/nvme0n1/queue/rotational":        "0\n",
		pci + "nvme/nvme0/nvme0n1/queue/max_sectors_kb":    "not a number\n",
		pci + "nvme/nvme0/nvme0n1/mq/0/cpu_list":           "0\n",
		pci + "nvme/nvme0/nvme0n1/mq/1/cpu_list":           "1\n",
		pci + "host0/0:0:0:0/scsi_generic/sg0/device":      "-> ../../../0:0:0:0",
		pci + "host0/0:0:0:0/block/sda/queue/rotational":   "1\n",
		pci + "host0/0:0:0:0/block/sda/queue/scheduler":    "none\n",
		pci + "host0/0:0:0:0/block/sda/integrity/format":   "none\n",
		pci + "host0/0:0:0:0/block/sda/device":             "-> ../../../0:0:0:0",
		pci + "host0/0:0:0:0/vendor":                       "ATA     \n",
		pci + "host0/0:0:0:0/model":                        "DISK 1\n",
		pci + "host0/0:0:0:0/rev":                          "F1\n",
		"devices/virtual/mem/null/dev":                     "1:3\n",
		subsystem + "ng1n1/dev":                            "240:5\n",
		subsystem + "nvme1n1/queue/nr_requests":            "0\n",
		subsystem + "nvme1":                                "-> ../../../pci1/nvme1",
		subsystem + "nvme2":                                "-> ../../../pci2/nvme2",
		"devices/pci1/nvme1/numa_node":                     "-1\n",
		"devices/pci1/numa_node":                           "0\n",
		"devices/pci2/nvme2/numa_node":                     "0\n",
		"devices/virtual/block/dm-0/dm/name":               "vg-data\n",
		"devices/virtual/block/dm-0/queue/rotational":      "0\n",
		"devices/virtual/block/dm-0/slaves/nvme0n1/absent": "",
	})
	for _, c := range []struct {
		name         string
		find         func(major, minor uint32) (Disk, error)
		major, minor uint32
		disk, facts  string
	}{
		{"NVMe", sys.Disk, 259, 0, "nvme0n1", "model=Made Up 9000\nfirmware=1.2.3\ntransport=pcie\nnuma_node=#1\n" +
			"size_bytes=#1048576\nscheduler=none\nnr_requests=#1023\nnomerges=#2\niostats=#1\nio_poll=#0\nwrite_cache=write back\n" +
			"rotational=#0\nmetadata_bytes=#8\nintegrity=T10-DIF-TYPE1-CRC\nqueues=#2\n"},
		{"SCSI generic", sys.Char, 21, 0, "sda", "model=ATA DISK 1\nfirmware=F1\nnuma_node=#1\nscheduler=none\nrotational=#1\n"},
		{"multipath", sys.Char, 240, 5, "nvme1n1", "numa_node=#0\nnr_requests=#0\n"},
		{"device mapper", sys.Disk, 253, 0, "dm-0", "dm_name=vg-data\nrotational=#0\n"},
	} {
		d, err := c.find(c.major, c.minor)
		if err != nil || d.Name != c.disk {
			t.Errorf("%s: %+v, %v", c.name, d, err)
		}
		if diff := cmp.Diff(c.facts, facts(sys.Describe(d))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	if d, err := sys.Char(240, 0); err != nil || d.Name != "nvme0n1" {
		t.Errorf("ng0n1 is %+v, %v", d, err)
	}
	for _, minor := range [][2]uint32{{1, 3}, {240, 9}, {7, 7}} {
		if d, err := sys.Char(minor[0], minor[1]); !errors.Is(err, ErrNoDisk) {
			t.Errorf("character device %v is %+v, %v, want ErrNoDisk", minor, d, err)
		}
	}
	if got := facts(sys.Describe(Disk{Name: "gone", Dir: "/nowhere/gone"})); got != "" {
		t.Errorf("of a disk that has gone: %s", got)
	}
}
