package channel

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

var release = Release{
	Name: "landscaper-cli", Version: "v1.2.3", Summary: "The command line", Homepage: "https://example.org",
	Archives: []Archive{
		{"darwin", "arm64", "https://example.org/darwin_arm64.tar.gz", strings.Repeat("a", 64)},
		{"linux", "amd64", "https://example.org/linux_amd64.tar.gz", strings.Repeat("b", 64)},
		{"windows", "amd64", "https://example.org/windows_amd64.zip", strings.Repeat("c", 64)},
	},
}

// TestKrew: the manifest has an entry for each archive, and the program has its end on Windows.
func TestKrew(t *testing.T) {
	text, err := release.Write("landscaper-krew.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Spec struct {
			Version   string
			Platforms []struct {
				Selector         struct{ MatchLabels map[string]string }
				URI, SHA256, Bin string
				Files            []struct{ From string }
			}
		}
	}
	if err := yaml.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.Spec.Version != "v1.2.3" || len(manifest.Spec.Platforms) != len(release.Archives) {
		t.Fatalf("%s", text)
	}
	for i, platform := range manifest.Spec.Platforms {
		want := release.Archives[i]
		program := "landscaper-cli"
		if want.OS == "windows" {
			program += ".exe"
		}
		if platform.Selector.MatchLabels["os"] != want.OS || platform.URI != want.URL || platform.SHA256 != want.SHA256 || platform.Bin != program || platform.Files[0].From != program {
			t.Errorf("%+v: %+v", want, platform)
		}
	}
}

// TestFormula: the formula has the archives of macOS and Linux, each with its sum, and no other one.
func TestFormula(t *testing.T) {
	text, err := release.Write("landscaper-cli.rb")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`version "1.2.3"`, "on_arm do\n      url \"https://example.org/darwin_arm64.tar.gz\"\n      sha256 \"" + release.Archives[0].SHA256, "on_intel do\n      url \"https://example.org/linux_amd64.tar.gz\""} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the formula does not contain %q:\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "windows") {
		t.Error("the formula has an archive for Windows")
	}
}
