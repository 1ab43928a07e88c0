package component

import (
	"errors"
	"fmt"
	"strings"

	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
)

// Reference names a component version in a repository.
type Reference struct {
	Context descriptor.Typed
	Name    string
	Version string
}

// String names the component version in messages.
func (r Reference) String() string {
	switch {
	case r.Name == "" && r.Version == "":
		return "without name and version"
	case r.Name == "":
		return "without name, in version " + r.Version
	case r.Version == "":
		return r.Name + " without version"
	}
	return r.Name + ":" + r.Version
}

func (r Reference) check() error {
	if r.Name == "" {
		return errors.New("component descriptor reference cannot be nil")
	}
	return nil
}

// Overwrite replaces what is set in the substitution, in references that match the source. An empty
// field of the source matches anything.
type Overwrite struct {
	Source       Reference
	Substitution Reference
}

// Apply returns the reference after the overwrites, and whether any matched. All
// are compared with the reference as it was given. A substitution counts as a
// whole: it is passed over if an earlier one has set one of its attributes.
//
// Rules do not see what those before them have made of the reference: so their order
// decides only which of two counts, and no rule can lead to another one.
func Apply(overwrites []Overwrite, reference Reference) (Reference, bool) {
	var merged Reference
	matched := false
	for _, overwrite := range overwrites {
		if !overwrite.matches(reference) {
			continue
		}
		matched = true
		with := overwrite.Substitution
		if (!with.Context.IsZero() && !merged.Context.IsZero()) ||
			(with.Name != "" && merged.Name != "") || (with.Version != "" && merged.Version != "") {
			continue
		}
		merged = fill(merged, with)
		if !merged.Context.IsZero() && merged.Name != "" && merged.Version != "" {
			break
		}
	}
	return fill(reference, merged), matched
}

// fill puts what is set in with into a reference.
func fill(reference, with Reference) Reference {
	if !with.Context.IsZero() {
		reference.Context = with.Context
	}
	if with.Name != "" {
		reference.Name = with.Name
	}
	if with.Version != "" {
		reference.Version = with.Version
	}
	return reference
}

func (o Overwrite) matches(reference Reference) bool {
	return (o.Source.Context.IsZero() || repository.Equal(o.Source.Context, reference.Context)) &&
		(o.Source.Name == "" || o.Source.Name == reference.Name) &&
		(o.Source.Version == "" || o.Source.Version == reference.Version)
}

// Diff describes what overwrites have changed.
func Diff(before, after Reference) string {
	line := func(what, before, after string) string {
		if before == after {
			return what + " has not been overwritten"
		}
		return fmt.Sprintf("%s: %s -> %s", what, before, after)
	}
	return strings.Join([]string{
		"Component reference has been overwritten:",
		line("repository context", before.Context.String(), after.Context.String()),
		line("component name", before.Name, after.Name),
		line("version", before.Version, after.Version),
	}, "\n")
}
