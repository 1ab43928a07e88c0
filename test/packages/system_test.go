package packages

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// placed are files that both packages bring.
var placed = []string{
	"usr/bin/" + program, "usr/share/doc/" + program + "/LICENSE", "usr/share/doc/" + program + "/NOTICE", "usr/share/man/man1/" + program + ".1",
	"usr/share/bash-completion/completions/" + program, "usr/share/zsh/site-functions/_" + program, "usr/share/fish/vendor_completions.d/" + program + ".fish",
}

// wantPlaced: the files are there, and the program runs.
func wantPlaced(t *testing.T, arch, root string) {
	t.Helper()
	for _, name := range placed {
		if about, err := os.Stat(filepath.Join(root, name)); err != nil || about.Size() == 0 {
			t.Errorf("%v: %+v", err, about)
		}
	}
	wantVersion(t, arch, filepath.Join(root, "usr/bin", program))
	execute(t, nil, "bash", "-n", filepath.Join(root, "usr/share/bash-completion/completions", program))
}

// wantRemoved: the package has left no file.
func wantRemoved(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(root, "usr"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			t.Errorf("%s is left", path)
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
}

// TestDeb: dpkg installs the package, and removes it again.
func TestDeb(t *testing.T) {
	for _, arch := range architectures {
		t.Run(arch, func(t *testing.T) {
			file, root := fileOf(program, arch, ".deb"), t.TempDir()
			admin := filepath.Join(root, "var/lib/dpkg")
			for _, folder := range []string{"info", "updates", "triggers"} {
				if err := os.MkdirAll(filepath.Join(admin, folder), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(admin, "status"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSpace(execute(t, nil, "dpkg-deb", "--field", file, "Architecture")); got != arch {
				t.Errorf("it is for %s", got)
			}
			dpkg := []string{"dpkg", "--root", root, "--log", filepath.Join(root, "log"), "--force-architecture"}
			asRoot(t, append(dpkg, "--install", file)...)
			wantPlaced(t, arch, root)
			if state := execute(t, nil, "dpkg-query", "--admindir", admin, "--show", "--showformat", "${db:Status-Abbrev} ${Version}", program); !strings.HasPrefix(state, "ii ") || !strings.Contains(state, strings.TrimPrefix(strings.Split(*version, "-")[0], "v")) {
				t.Errorf("its state is %q", state)
			}
			asRoot(t, append(dpkg, "--purge", program)...)
			wantRemoved(t, root)
		})
	}
}

// TestRPM: rpm finds the sums of the package right, installs it, and removes it again.
func TestRPM(t *testing.T) {
	for _, arch := range architectures {
		t.Run(arch, func(t *testing.T) {
			file, root := fileOf(program, arch, ".rpm"), t.TempDir()
			rpm := []string{"rpm", "--root", root}
			asRoot(t, append(rpm, "--initdb")...)
			if sums := asRoot(t, append(rpm, "--checksig", "--nosignature", file)...); !strings.Contains(sums, "digests OK") {
				t.Error(sums)
			}
			asRoot(t, append(rpm, "--ignorearch", "--install", file)...)
			wantPlaced(t, arch, root)
			if wrong := asRoot(t, append(rpm, "--verify", program)...); wrong != "" {
				t.Errorf("rpm finds changes:\n%s", wrong)
			}
			asRoot(t, append(rpm, "--erase", program)...)
			wantRemoved(t, root)
		})
	}
}
