// Package compatibility compares two versions of a blueprint as those see them that use it: by the
// imports and exports that it declares. It says what a user of the older version would have to change.
//
// How the versions differ inside, in templates and subinstallations, is not compared.
package compatibility

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/blueprint/schema"
	"go.landscaper.dev/internal/content/blueprint/schema/inclusion"
)

// Severity says how bad a difference is.
type Severity string

const (
	// Breaking differences make jobs fail, or take something away, without a change of an Installation.
	Breaking Severity = "breaking"
	// Unknown says that it cannot be decided whether a difference is breaking.
	Unknown Severity = "unknown"
	// Warning is for what has another effect, and does not fail.
	Warning Severity = "warning"
	// Note is for what is compatible.
	Note Severity = "note"
)

// severities are in the order in which findings are shown.
var severities = []Severity{Breaking, Unknown, Warning, Note}

// Subject is what a finding is about.
type Subject string

// The subjects.
const (
	Import    Subject = "import"
	Export    Subject = "export"
	Blueprint Subject = "blueprint"
	Resource  Subject = "resource"
	Reference Subject = "component reference"
)

// Users says which Installations a difference concerns.
type Users string

const (
	// Giving are those that give the import, or publish the export.
	Giving Users = "giving"
	// Leaving are those that do not give the import.
	Leaving Users = "leaving"
	// All are all that use the blueprint.
	All Users = "all"
	// None is for what no user needs to know.
	None Users = "none"
)

// Finding is one difference.
type Finding struct {
	Severity Severity `json:"severity"`
	// Resource is the name of the blueprint in its component version.
	Resource string  `json:"resource,omitempty"`
	Subject  Subject `json:"subject"`
	// Name is the name of the import, export or resource.
	Name string `json:"name"`
	// Path is the place in the value.
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
	Users   Users  `json:"users"`
	// When names imports that a user must give besides.
	When []string `json:"when,omitempty"`
}

// String is the finding as one line.
func (f Finding) String() string {
	place := string(f.Subject) + " " + f.Name
	if f.Path != "" {
		place += ": " + f.Path
	}
	if f.Resource != "" && (f.Subject == Import || f.Subject == Export) {
		place = f.Resource + ": " + place
	}
	return fmt.Sprintf("%s: %s: %s", f.Severity, place, f.Message)
}

// Version is one version of a blueprint.
type Version struct {
	// Info is the description, with its defaults set.
	Info *v1alpha1.Blueprint
	// Schemas are what its schemas may refer to.
	Schemas schema.Compiler
}

// Compare returns the differences of two versions, the worst ones first.
func Compare(ctx context.Context, older, newer Version) ([]Finding, error) {
	c := &comparison{ctx: ctx, older: older, newer: newer}
	err := errors.Join(c.imports(), c.exports())
	if err != nil {
		return nil, err
	}
	Sort(c.findings)
	return c.findings, nil
}

// Sort brings findings into the order in which they are shown.
func Sort(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(slices.Index(severities, a.Severity), slices.Index(severities, b.Severity)),
			cmp.Compare(a.Resource, b.Resource), -cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Path, b.Path))
	})
}

// Has reports whether there is a finding of a severity.
func Has(findings []Finding, severity Severity) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.Severity == severity })
}

type comparison struct {
	ctx          context.Context // lives for one call
	older, newer Version
	findings     []Finding
	schemas      inclusion.Comparer
}

func (c *comparison) add(f Finding) { c.findings = append(c.findings, f) }
