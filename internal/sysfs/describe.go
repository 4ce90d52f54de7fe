package sysfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Fact is something that is known of a device or machine. What is not known has no Fact.
type Fact struct {
	Name   string // as reports have it, such as nr_requests
	Text   string
	Number bool // Text is a decimal number, as JSON has them
}

// Char finds the disk that the character device with these numbers sends commands to: the NVMe namespace of /dev/ng0n1, the
// disk of /dev/sg0. Others, as those of /dev/null, are none: ErrNoDisk.
func (s FS) Char(major, minor uint32) (Disk, error) {
	link := filepath.Join(s.root(), "dev", "char", fmt.Sprintf("%d:%d", major, minor))
	none := fmt.Errorf("character device %d:%d: %w", major, minor, ErrNoDisk)
	dir, err := filepath.EvalSymlinks(link)
	if errors.Is(err, fs.ErrNotExist) {
		return Disk{}, none
	}
	if err != nil {
		return Disk{}, fmt.Errorf("character device %d:%d: %w", major, minor, err)
	}
	if number, ok := strings.CutPrefix(filepath.Base(dir), "ng"); ok {
		// The block device lies beside it, below the controller or, with multipath, below the subsystem.
		if d := wholeDisk(filepath.Join(filepath.Dir(dir), "nvme"+number)); exists(filepath.Join(d.Dir, "queue")) {
			return d, nil
		}
		return Disk{}, none
	}
	if found, _ := filepath.Glob(filepath.Join(dir, "device", "block", "*")); len(found) == 1 {
		if dir, err = filepath.EvalSymlinks(found[0]); err == nil {
			return wholeDisk(dir), nil
		}
	}
	return Disk{}, none
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// queueFacts are files of a disk's queue folder: the name in reports, the file, and whether it holds a number.
var queueFacts = []struct {
	name, file string
	number     bool
}{
	{"logical_block_bytes", "logical_block_size", true},
	{"physical_block_bytes", "physical_block_size", true},
	{"scheduler", "scheduler", false},
	{"nr_requests", "nr_requests", true},
	{"nomerges", "nomerges", true},
	{"iostats", "iostats", true},
	{"io_poll", "io_poll", true},
	{"rq_affinity", "rq_affinity", true},
	{"wbt_lat_usec", "wbt_lat_usec", true},
	{"write_cache", "write_cache", false},
	{"rotational", "rotational", true},
	{"read_ahead_kb", "read_ahead_kb", true},
	{"max_sectors_kb", "max_sectors_kb", true},
	{"zoned", "zoned", false},
}

// Describe gives what the kernel tells of a disk, in a fixed order. What it does not tell is left out.
func (s FS) Describe(d Disk) []Fact {
	var out []Fact
	text := func(name, v string) {
		if v != "" {
			out = append(out, Fact{Name: name, Text: v})
		}
	}
	count := func(name, v string) {
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			out = append(out, Fact{Name: name, Text: strconv.FormatInt(n, 10), Number: true})
		}
	}
	text("model", d.model())
	text("firmware", d.firmware())
	text("transport", d.attr("device/transport"))
	text("dm_name", d.attr("dm/name"))
	text("md_level", d.attr("md/level"))
	if node, err := s.dirNode(d.Dir); err == nil && node != NoNode {
		count("numa_node", strconv.Itoa(node))
	}
	if sectors, err := strconv.ParseUint(d.attr("size"), 10, 54); err == nil {
		count("size_bytes", strconv.FormatUint(sectors*512, 10))
	}
	for _, f := range queueFacts {
		v := d.attr("queue/" + f.file)
		switch {
		case f.file == "scheduler":
			text(f.name, chosen(v))
		case f.number:
			count(f.name, v)
		default:
			text(f.name, v)
		}
	}
	count("metadata_bytes", d.attr("metadata_bytes"))
	if format := d.attr("integrity/format"); format != "none" && format != "nop" {
		text("integrity", format)
	}
	if queues, err := os.ReadDir(filepath.Join(d.Dir, "mq")); err == nil {
		count("queues", strconv.Itoa(len(queues)))
	}
	return out
}

// attr is a file of the disk's folder, and empty where there is none.
func (d Disk) attr(path string) string {
	text, err := os.ReadFile(filepath.Join(d.Dir, filepath.FromSlash(path)))
	if err != nil {
		return ""
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

// model is the model's name, behind the vendor's with SCSI, which keeps the two apart.
func (d Disk) model() string {
	model, vendor := d.attr("device/model"), d.attr("device/vendor")
	if model == "" || strings.HasPrefix(vendor, "0x") {
		return model
	}
	return strings.TrimSpace(vendor + " " + model)
}

// firmware is the revision, by NVMe's name of it, SCSI's or that of memory cards.
func (d Disk) firmware() string {
	for _, name := range []string{"device/firmware_rev", "device/rev", "device/fwrev"} {
		if v := d.attr(name); v != "" {
			return v
		}
	}
	return ""
}

// chosen is the scheduler in brackets; a disk that has none to choose says none without them.
func chosen(list string) string {
	_, name, ok := strings.Cut(list, "[")
	if !ok {
		return list
	}
	name, _, _ = strings.Cut(name, "]")
	return name
}
