package nvme

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// kernel is an unpacked kernel package.
type kernel struct {
	release, image string
	modules        map[string]string // file by name, with _ for -
	builtin        map[string]bool
}

// packages are those with a kernel that has what the tests need, best first: Debian 12 has an extra one, from 13 on the
// usual one will do.
var packages = []string{"linux-image-6.12-amd64", "linux-image-amd64"}

// findKernel fetches the kernel package that FIORD_NVME_KERNEL names, or Debian's 6.12, once, and unpacks it in the
// user's cache. The variable can also be the path of a package.
func findKernel(t *testing.T) *kernel {
	t.Helper()
	names := packages
	if name := os.Getenv("FIORD_NVME_KERNEL"); name != "" {
		names = []string{name}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "fiord-nvme", strings.TrimSuffix(filepath.Base(names[0]), ".deb"))
	if _, err := os.Stat(dir); err != nil {
		deb := names[0]
		if !strings.HasSuffix(deb, ".deb") {
			deb = download(t, concrete(t, names))
		}
		unpack(t, deb, dir)
	}
	k, err := openKernel(dir)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

var depends = regexp.MustCompile(`Depends: (linux-image-\d\S*)`)

// concrete is the package with the kernel that the first known one of names depends on, or is. The lists of apt may be
// missing, or so old that what they name is gone.
func concrete(t *testing.T, names []string) string {
	t.Helper()
	if os.Getuid() == 0 {
		if out, err := exec.Command("apt-get", "-q", "update").CombinedOutput(); err != nil {
			t.Logf("apt-get update: %v\n%s", err, tail(out))
		}
	}
	for _, name := range names {
		out, err := exec.Command("apt-cache", "depends", name).Output()
		if err != nil || len(out) == 0 {
			continue
		}
		if m := depends.FindSubmatch(out); m != nil {
			return string(m[1])
		}
		return name
	}
	t.Fatalf("apt knows none of %v", names)
	return ""
}

func download(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // for apt's own user
		t.Fatal(err)
	}
	t.Logf("fetching %s", name)
	run(t, dir, "apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", name)
	debs, _ := filepath.Glob(filepath.Join(dir, "*.deb"))
	if len(debs) != 1 {
		t.Fatalf("apt-get download %s: %d packages", name, len(debs))
	}
	return debs[0]
}

// unpack unpacks a package beside its place and moves it there, so that it is whole or not there.
func unpack(t *testing.T, deb, dir string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), ".unpack-")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	run(t, "", "dpkg-deb", "-x", deb, tmp)
	if err := os.Rename(tmp, dir); err != nil {
		t.Fatal(err)
	}
}

func openKernel(dir string) (*kernel, error) {
	images, _ := filepath.Glob(filepath.Join(dir, "boot", "vmlinuz-*"))
	if len(images) != 1 {
		return nil, fmt.Errorf("%s: %d kernels, want 1", dir, len(images))
	}
	k := &kernel{image: images[0], modules: map[string]string{}, builtin: map[string]bool{}}
	k.release = strings.TrimPrefix(filepath.Base(images[0]), "vmlinuz-")
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if name, _, ok := strings.Cut(d.Name(), ".ko"); ok {
			k.modules[underscored(name)] = path
		}
		if d.Name() == "modules.builtin" {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for line := range strings.Lines(string(text)) {
				k.builtin[underscored(strings.TrimSuffix(filepath.Base(strings.TrimSpace(line)), ".ko"))] = true
			}
		}
		return nil
	})
	return k, err
}

func underscored(name string) string { return strings.ReplaceAll(name, "-", "_") }

// load adds a module to list, behind those that it depends on. Its contents go to files.
func (k *kernel) load(name string, list *[]string, files map[string][]byte) error {
	name = underscored(name)
	if k.builtin[name] || files[name] != nil {
		return nil
	}
	path, ok := k.modules[name]
	if !ok {
		return fmt.Errorf("kernel %s has no module %s", k.release, name)
	}
	var b []byte
	var err error
	switch filepath.Ext(path) {
	case ".xz":
		b, err = exec.Command("xz", "-dc", path).Output()
	case ".zst":
		b, err = exec.Command("zstd", "-dcq", path).Output()
	default:
		b, err = os.ReadFile(path)
	}
	if err != nil {
		return fmt.Errorf("module %s: %w", path, err)
	}
	files[name] = b
	deps, err := dependencies(b)
	if err != nil {
		return fmt.Errorf("module %s: %w", path, err)
	}
	for _, d := range deps {
		if err := k.load(d, list, files); err != nil {
			return err
		}
	}
	*list = append(*list, name)
	return nil
}

// dependencies reads what a module needs out of it.
func dependencies(module []byte) ([]string, error) {
	f, err := elf.NewFile(bytes.NewReader(module))
	if err != nil {
		return nil, err
	}
	s := f.Section(".modinfo")
	if s == nil {
		return nil, fmt.Errorf("no .modinfo")
	}
	info, err := s.Data()
	if err != nil {
		return nil, err
	}
	for field := range bytes.SplitSeq(info, []byte{0}) {
		if names, ok := bytes.CutPrefix(field, []byte("depends=")); ok && len(names) > 0 {
			return strings.Split(string(names), ","), nil
		}
	}
	return nil, nil
}
