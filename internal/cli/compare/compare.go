// Package compare is what the commands have in common that compare two versions: how differences are shown, in
// which landscape their users are looked for, and how the command ends.
package compare

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/content/blueprint/compatibility"
	"go.landscaper.dev/internal/landscape/upgrade"
)

// Flags say what to show, and which landscape to look at.
type Flags struct {
	landscape
	output string
	strict bool
	notes  bool
}

// The values of -o.
const (
	outputText = "text"
	outputJSON = "json"
)

// Help says how the commands end, for their help.
const Help = `A difference is breaking, unknown if that cannot be decided, a warning if it has another
effect without failing, or a note if it is compatible. Notes are shown with --notes.

With -n or -A, the Installations of a cluster that a difference would hit are listed; with
--landscape, those of a folder. The command ends with code 2 if a difference is breaking, or
with --strict if one is unknown.`

// Add adds the flags to a command.
func (f *Flags) Add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVarP(&f.output, "output", "o", outputText, "text or json")
	flags.BoolVar(&f.strict, "strict", false, "take what cannot be decided for breaking")
	flags.BoolVar(&f.notes, "notes", false, "show compatible differences as well")
	f.landscape.add(command)
	terminal.CompleteWith(command, "output", outputText, outputJSON)
	terminal.BeStrict(command)
}

// Check finds flags that contradict each other.
func (f *Flags) Check() error {
	if f.output != outputText && f.output != outputJSON {
		return terminal.Usage(fmt.Errorf("invalid option for '--output'/'-o' flag: %q: use text or json", f.output))
	}
	return f.landscape.check()
}

// Versions is what is compared.
type Versions struct {
	// Older and Newer are how the user calls them.
	Older, Newer string
	Used         upgrade.Used
}

// result is what is printed for programs.
type result struct {
	Old        string                  `json:"old"`
	New        string                  `json:"new"`
	Compatible bool                    `json:"compatible"`
	Findings   []compatibility.Finding `json:"findings"`
	// Installations is not set if no landscape was looked at.
	Installations *[]upgrade.Hit `json:"installations,omitempty"`
}

// Report prints the differences and their users, and says with an exit code whether they are compatible.
func (f *Flags) Report(ctx context.Context, streams terminal.Streams, versions Versions, findings []compatibility.Finding) error {
	r := result{Old: versions.Older, New: versions.Newer, Compatible: f.compatible(findings), Findings: findings}
	if r.Findings == nil {
		r.Findings = []compatibility.Finding{}
	}
	if f.landscape.wanted() {
		if versions.Used.Component == "" {
			return terminal.Usage(errors.New("name the component whose Installations are looked for with --component"))
		}
		installations, err := f.landscape.read(ctx)
		if err != nil {
			return err
		}
		hits := upgrade.Hits(installations, versions.Used, findings)
		if hits == nil {
			hits = []upgrade.Hit{}
		}
		r.Installations = &hits
	}
	if err := f.print(streams, r); err != nil {
		return err
	}
	if !r.Compatible {
		return terminal.Silent(terminal.ExitEndedBadly)
	}
	return nil
}

func (f *Flags) compatible(findings []compatibility.Finding) bool {
	return !compatibility.Has(findings, compatibility.Breaking) && (!f.strict || !compatibility.Has(findings, compatibility.Unknown))
}

func (f *Flags) print(streams terminal.Streams, r result) error {
	if f.output == outputJSON {
		return terminal.WriteJSON(streams.Out, r)
	}
	var text strings.Builder
	for _, finding := range r.Findings {
		if f.notes || finding.Severity != compatibility.Note {
			fmt.Fprintln(&text, finding)
		}
	}
	if r.Installations != nil {
		writeHits(&text, r)
	}
	fmt.Fprintln(&text, Summary(r.Findings))
	// Others have written what is compared, and findings repeat their words.
	_, err := fmt.Fprint(streams.Out, terminal.PrintableLines(text.String()))
	return err // the standard output
}

// writeHits lists Installations with the names of what concerns them.
func writeHits(text *strings.Builder, r result) {
	if len(*r.Installations) == 0 {
		fmt.Fprintln(text, "No Installation is concerned.")
		return
	}
	fmt.Fprintln(text, "Installations that are concerned:")
	for _, hit := range *r.Installations {
		var what []string
		for _, number := range hit.Findings {
			finding := r.Findings[number]
			name := string(finding.Subject) + " " + finding.Name
			if len(what) == 0 || what[len(what)-1] != name {
				what = append(what, name)
			}
		}
		fmt.Fprintf(text, "  %s/%s (%s), %s: %s", hit.Namespace, hit.Name, hit.Version, hit.Severity, strings.Join(what, ", "))
		if len(hit.Readers) > 0 {
			fmt.Fprintf(text, "; read by %s", strings.Join(hit.Readers, ", "))
		}
		fmt.Fprintln(text)
	}
}

// Summary says in one line how two versions stand to each other.
func Summary(findings []compatibility.Finding) string {
	counts := map[compatibility.Severity]int{}
	for _, finding := range findings {
		counts[finding.Severity]++
	}
	verdict := "Compatible"
	switch {
	case counts[compatibility.Breaking] > 0:
		verdict = "Not compatible"
	case counts[compatibility.Unknown] > 0:
		verdict = "Nothing is known to be incompatible"
	}
	return fmt.Sprintf("%s: %d breaking, %d unknown, %s, %s", verdict,
		counts[compatibility.Breaking], counts[compatibility.Unknown], counted(counts[compatibility.Warning], "warning"), counted(counts[compatibility.Note], "note"))
}

func counted(number int, word string) string {
	if number == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", number, word)
}
