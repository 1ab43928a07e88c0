package packages

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKrew: an index with the manifest is one that krew reads; it finds the sum of the archive right,
// installs the plugin, and removes it again.
func TestKrew(t *testing.T) {
	index := krewIndex(t)
	for _, arch := range architectures {
		t.Run(arch, func(t *testing.T) {
			root := t.TempDir()
			environment := []string{
				"KREW_ROOT=" + root, "KREW_OS=linux", "KREW_ARCH=" + arch, "KREW_NO_UPGRADE_CHECK=1", "KREW_DEFAULT_INDEX_URI=" + index,
			}
			krew := func(arguments ...string) string {
				return execute(t, environment, filepath.Join(bin, "krew"), arguments...)
			}
			krew("update")
			if found := krew("search", "landscaper"); !strings.Contains(found, "Show and drive Installations") {
				t.Errorf("krew finds\n%s", found)
			}
			krew("install", "--manifest", filepath.Join(index, "plugins", "landscaper.yaml"), "--archive", fileOf(program, arch, ".tar.gz"))
			plugin := filepath.Join(root, "bin", "kubectl-landscaper")
			wantVersion(t, arch, plugin)
			krew("uninstall", "landscaper")
			if _, err := os.Lstat(plugin); !os.IsNotExist(err) {
				t.Errorf("the plugin is left: %v", err)
			}
		})
	}
}

// krewIndex is an index of krew, a Git repository, with the manifest.
func krewIndex(t *testing.T) string {
	t.Helper()
	index := t.TempDir()
	text, err := os.ReadFile(filepath.Join(dist, "landscaper-krew.yaml"))
	if err == nil {
		err = os.Mkdir(filepath.Join(index, "plugins"), 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(index, "plugins", "landscaper.yaml"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, arguments := range [][]string{
		{"init", "--quiet", "--initial-branch", "master"}, {"add", "plugins"},
		{"-c", "user.name=test", "-c", "user.email=test@example.org", "commit", "--quiet", "--message", "plugins: add landscaper"},
	} {
		execute(t, nil, "git", append([]string{"-C", index}, arguments...)...)
	}
	return index
}

// TestFormula: Ruby reads the formula, which names the archives of the platform, installs what is in
// them, and passes its own test. A script plays Homebrew.
func TestFormula(t *testing.T) {
	formula := filepath.Join(dist, program+".rb")
	execute(t, nil, "ruby", "-wc", formula)
	sums, err := os.ReadFile(filepath.Join(dist, "checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, arch := range architectures {
		t.Run(arch, func(t *testing.T) {
			source, prefix := t.TempDir(), t.TempDir()
			unpack(t, fileOf(program, arch, ".tar.gz"), source)
			var chosen struct{ Version, URL, SHA256 string }
			said := execute(t, []string{"FORMULA_ARCH=" + arch, "FORMULA_EMULATOR=" + emulator}, "ruby", "-w", filepath.Join("testdata", "homebrew.rb"), formula, source, prefix)
			if err := json.Unmarshal([]byte(said), &chosen); err != nil {
				t.Fatalf("%v: %s", err, said)
			}
			name := filepath.Base(fileOf(program, arch, ".tar.gz"))
			if chosen.Version != strings.TrimPrefix(*version, "v") || !strings.HasSuffix(chosen.URL, "/"+*version+"/"+name) || !strings.Contains(string(sums), chosen.SHA256+"  "+name+"\n") {
				t.Errorf("it chooses %+v", chosen)
			}
			wantVersion(t, arch, filepath.Join(prefix, "bin", "kubectl-landscaper"))
			for _, name := range []string{"share/man/man1/landscaper-cli.1", "etc/bash_completion.d/landscaper-cli", "share/zsh/site-functions/_landscaper-cli", "share/fish/vendor_completions.d/landscaper-cli.fish"} {
				if about, err := os.Stat(filepath.Join(prefix, name)); err != nil || about.Size() == 0 {
					t.Errorf("%v: %+v", err, about)
				}
			}
		})
	}
}
