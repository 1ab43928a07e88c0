package bill

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"

	"go.landscaper.dev/tools/release/program"
)

const root = "../../.."

// modules are those of the programs for the platform of the machine.
func modules(t *testing.T) []Module {
	t.Helper()
	all, err := Collect(t.Context(), root, []program.Platform{{OS: "linux", Arch: "amd64"}})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestLicencesFit: what the programs are linked with, and what is delivered besides, has licences
// that fit, and the notice names all of it with the texts.
func TestLicencesFit(t *testing.T) {
	all := modules(t)
	if err := errors.Join(Check(all)...); err != nil {
		t.Error(err)
	}
	text := string(Notice(all))
	for _, want := range []string{"helm.sh/helm/v4 v", "std go1.", "github.com/fluxcd/flux2/v2 v", "its manifests are in the program", "npm/preact 1", "Redistribution and use in source and binary forms", "Mozilla Public License Version 2.0"} {
		if !strings.Contains(text, want) {
			t.Errorf("the notice does not contain %q", want)
		}
	}
	apache := 0
	for _, module := range all {
		if slices.Contains(module.Licences(), "Apache-2.0") {
			apache++
		}
	}
	if texts := strings.Count(text, "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION"); texts == 0 || texts > apache/2 {
		t.Errorf("%d modules have Apache-2.0, and its text is there %d times", apache, texts)
	}
}

// TestCheck: licences that do not fit, are not known, or are missing are errors that name the
// module.
func TestCheck(t *testing.T) {
	known, err := newClassifier()
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		files  map[string]string
		wrong  string
		reason string
	}{
		"fits":        {map[string]string{"LICENSE": mit}, "", "MIT asks for its text alone"},
		"copyleft":    {map[string]string{"COPYING": gpl(t)}, "does not fit Apache-2.0", "the GPL would hold for the whole program"},
		"unknown":     {map[string]string{"LICENSE": "You may use this on Sundays."}, "is not known", "a person has to read it"},
		"missing":     {map[string]string{"README.md": "free"}, "there is no licence", "without a licence nothing is permitted"},
		"notice only": {map[string]string{"NOTICE": "by us"}, "there is no licence", "a notice permits nothing"},
		"of a folder": {map[string]string{"LICENSE": mit, "zip/LICENSE": gpl(t)}, "in zip/LICENSE does not fit", "parts of a module come from elsewhere"},
		"docs":        {map[string]string{"LICENSE": mit, "LICENSE.docs": gpl(t)}, "", "documentation is in no program"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			for file, content := range row.files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, file)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(folder, file), []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			one := &found{folder: folder, packages: map[string]bool{}}
			one.add(filepath.Join(folder, "zip"))
			if err := os.MkdirAll(filepath.Join(folder, "zip"), 0o755); err != nil {
				t.Fatal(err)
			}
			texts, err := known.texts(folder, one.sorted())
			if err != nil {
				t.Fatal(err)
			}
			err = errors.Join(Check([]Module{{Path: "example.org/module", Version: "v1.0.0", Texts: texts}})...)
			if (err == nil) != (row.wrong == "") || err != nil && (!strings.Contains(err.Error(), row.wrong) || !strings.Contains(err.Error(), "example.org/module v1.0.0")) {
				t.Errorf("%s: %v", row.reason, err)
			}
		})
	}
}

const mit = `MIT License

Copyright (c) 2024 Example

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
`

// gpl is the text of the GPL, as the library of licences has it.
func gpl(t *testing.T) string {
	t.Helper()
	folder, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", "github.com/google/licenseclassifier/v2/assets").Output()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(folder)), "License", "GPL-3.0", "license.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestMaterial: the bill of material of a program lists what the linker has recorded, with
// versions and licences, and has the same bytes each time. The program is the one that runs.
func TestMaterial(t *testing.T) {
	content := compiled(t, nil)
	all := append(modules(t), Module{Path: "github.com/google/uuid", Version: "v1.6.0", Texts: []Text{{Path: "LICENSE", Licences: []string{"BSD-3-Clause"}}}})
	at := time.Unix(1_700_000_000, 0)
	first, err := Material("tool", "v1.2.3", "A tool", content, all, at)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Material("tool", "v1.2.3", "A tool", content, all, at)
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("the bytes differ: %v", err)
	}
	var got cyclonedx.BOM
	if err := cyclonedx.NewBOMDecoder(bytes.NewReader(first), cyclonedx.BOMFileFormatJSON).Decode(&got); err != nil {
		t.Fatal(err)
	}
	licences := map[string]string{}
	for _, component := range *got.Components {
		licences[component.Name] = (*component.Licenses)[0].License.ID
	}
	if licences["std"] != "BSD-3-Clause" || licences["github.com/google/uuid"] != "BSD-3-Clause" || len(licences) != 2 {
		t.Errorf("%v", licences)
	}
	if got.Metadata.Component.PackageURL != "pkg:golang/example.org/tool@v1.2.3#cmd/tool" {
		t.Errorf("%+v", got.Metadata.Component)
	}
	if _, err := Material("tool", "v1.2.3", "A tool", content, nil, at); err == nil || !strings.Contains(err.Error(), "std") {
		t.Errorf("a module whose licence is not known is accepted: %v", err)
	}
}

// TestMaterialOfPages: a program that carries the pages of the console lists what they are built
// with, which the linker does not record; one without them does not (TestMaterial).
func TestMaterialOfPages(t *testing.T) {
	pages, err := os.ReadFile(filepath.Join(root, console, "dist", "app.js"))
	if err != nil {
		t.Fatal(err)
	}
	all := append(modules(t), Module{Path: "github.com/google/uuid", Version: "v1.6.0", Texts: []Text{{Path: "LICENSE", Licences: []string{"BSD-3-Clause"}}}})
	text, err := Material("tool", "v1.2.3", "A tool", compiled(t, pages), all, time.Unix(1_700_000_000, 0))
	if err != nil {
		t.Fatal(err)
	}
	var got cyclonedx.BOM
	if err := cyclonedx.NewBOMDecoder(bytes.NewReader(text), cyclonedx.BOMFileFormatJSON).Decode(&got); err != nil {
		t.Fatal(err)
	}
	last := (*got.Components)[len(*got.Components)-1]
	if last.Name != "preact" || !strings.HasPrefix(last.PackageURL, "pkg:npm/preact@1") || (*last.Licenses)[0].License.ID != "MIT" || !slices.Contains(*(*got.Dependencies)[0].Dependencies, last.PackageURL) {
		t.Errorf("%+v", last)
	}
}

// compiled is a program with one dependency, and with content that it carries.
func compiled(t *testing.T, carried []byte) []byte {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "carried"), carried, 0o600); err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile("../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod": "module example.org/tool\n\ngo 1.26.0\n\nrequire github.com/google/uuid v1.6.0\n", "go.sum": string(sums),
		"main.go": "package main\n\nimport (\n\t_ \"embed\"\n\n\t\"github.com/google/uuid\"\n)\n\n//go:embed carried\nvar carried string\n\nfunc main() { println(uuid.NewString(), carried) }\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.CommandContext(t.Context(), "go", "build", "-o", "tool", ".")
	command.Dir = folder
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	content, err := os.ReadFile(filepath.Join(folder, "tool"))
	if err != nil {
		t.Fatal(err)
	}
	return content
}
