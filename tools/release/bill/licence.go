package bill

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	licenseclassifier "github.com/google/licenseclassifier/v2"
	"github.com/google/licenseclassifier/v2/assets"
)

// fitting are the licences that a program under Apache-2.0 may contain, when their texts go with
// it. Those that ask for the source of what is linked with them are not among them. MPL-2.0 asks
// for the source of its own files alone, which are used as they were published.
var fitting = map[string]bool{
	"Apache-2.0": true, "MIT": true, "BSD-2-Clause": true, "BSD-3-Clause": true, "BSD-3-Clause-Attribution": true, "ISC": true, "MPL-2.0": true,
	"Zlib": true, "Unlicense": true, "CC0-1.0": true, "0BSD": true, "BSL-1.0": true, "Unicode-DFS-2016": true, "X11": true,
}

// file matches the names of files with licences. What is for documentation alone is in no program.
var (
	file      = regexp.MustCompile(`(?i)^(licen[sc]e|copying|unlicense)([.-][a-z0-9.-]+)?$`)
	notice    = regexp.MustCompile(`(?i)^(notice|authors|patents)(\.(txt|md))?$`)
	elsewhere = regexp.MustCompile(`(?i)\.(docs|go)$`)
)

// Text is a file with a licence, or one that has to go with it.
type Text struct {
	// Path is that of the file in its module.
	Path    string
	Content string
	// Licences are those of the file; empty for a notice.
	Licences []string
}

// classifier knows texts of licences by what they say.
type classifier struct{ *licenseclassifier.Classifier }

func newClassifier() (classifier, error) {
	known, err := assets.DefaultClassifier()
	if err != nil {
		return classifier{}, fmt.Errorf("read the known licences: %w", err)
	}
	return classifier{known}, nil
}

// licences returns the licences that a text has.
func (c classifier) licences(text string) []string {
	found := map[string]bool{}
	for _, match := range c.Match([]byte(text)).Matches {
		if match.MatchType == "License" {
			found[match.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// texts reads the files of folders of a module: that of the module, and those of its packages.
func (c classifier) texts(module string, folders []string) ([]Text, error) {
	var all []Text
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, fmt.Errorf("look for licences: %w", err)
		}
		for _, entry := range entries {
			name := entry.Name()
			isLicence := file.MatchString(name) && !elsewhere.MatchString(name)
			if entry.IsDir() || !isLicence && !notice.MatchString(name) {
				continue
			}
			content, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil {
				return nil, fmt.Errorf("read a licence: %w", err)
			}
			within, err := filepath.Rel(module, filepath.Join(folder, name))
			if err != nil {
				return nil, fmt.Errorf("read a licence: %w", err)
			}
			text := Text{Path: filepath.ToSlash(within), Content: strings.ReplaceAll(string(content), "\r\n", "\n")}
			if isLicence {
				text.Licences = c.licences(text.Content)
			}
			all = append(all, text)
		}
	}
	return all, nil
}

// isLicence says that a text is a licence, not a notice.
func (t Text) isLicence() bool { return file.MatchString(filepath.Base(t.Path)) }

// Check returns what is wrong with the licences of modules: each has one, each is known, and each
// fits.
func Check(modules []Module) []error {
	var wrong []error
	for _, module := range modules {
		licensed := false
		for _, text := range module.Texts {
			if !text.isLicence() {
				continue
			}
			licensed = true
			if len(text.Licences) == 0 {
				wrong = append(wrong, fmt.Errorf("%s: the licence in %s is not known: read it, and replace the module if it does not fit Apache-2.0", module, text.Path))
			}
			for _, licence := range text.Licences {
				if !fitting[licence] {
					wrong = append(wrong, fmt.Errorf("%s: the licence %s in %s does not fit Apache-2.0: replace the module", module, licence, text.Path))
				}
			}
		}
		if !licensed {
			wrong = append(wrong, fmt.Errorf("%s: there is no licence: replace the module", module))
		}
	}
	return wrong
}
