package descriptor

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// elementName is what the published schemas demand of names of elements and of the
// keys of their identities.
var elementName = regexp.MustCompile(`^[a-z0-9]([-_+a-z0-9]*[a-z0-9])?$`)

const minElementName = 2

// Violation is a rule of the published schemas that a descriptor does not keep.
// Readers here do not insist on it, others do.
type Violation struct {
	// Path leads to the field: names of fields and indexes of lists.
	Path []any
	// Reason says what is wrong, and what to do.
	Reason string
}

// Field returns the path as text.
func (v Violation) Field() string {
	var text strings.Builder
	for i, step := range v.Path {
		if index, isIndex := step.(int); isIndex {
			fmt.Fprintf(&text, "[%d]", index)
			continue
		}
		if i > 0 {
			text.WriteByte('.')
		}
		fmt.Fprint(&text, step)
	}
	return text.String()
}

// String returns field and reason.
func (v Violation) String() string { return v.Field() + ": " + v.Reason }

// Violations returns what readers elsewhere would refuse.
func (d *Descriptor) Violations() []Violation {
	var found violations
	if d.Version != "" {
		found.version(d.Version, "version")
	}
	for i, r := range d.Resources {
		found.element(r.Element, "resources", i)
	}
	for i, s := range d.Sources {
		found.element(s.Element, "sources", i)
	}
	for i, r := range d.References {
		found.element(r.Element, "references", i)
		if err := CheckName(r.ComponentName); err != nil {
			found.add(err.Error(), "references", i, "componentName")
		}
	}
	return found
}

type violations []Violation

func (v *violations) add(reason string, path ...any) {
	*v = append(*v, Violation{Path: path, Reason: reason})
}

func (v *violations) element(e Element, list string, at int) {
	if reason := wrongName(e.Name); reason != "" {
		v.add(reason, list, at, "name")
	}
	if e.Version != "" {
		v.version(e.Version, list, at, "version")
	}
	for _, key := range slices.Sorted(maps.Keys(e.ExtraIdentity)) {
		if reason := wrongName(key); reason != "" {
			v.add("the key "+reason, list, at, "extraIdentity", key)
		}
	}
}

func (v *violations) version(version string, path ...any) {
	if _, err := semver.NewVersion(version); err != nil {
		v.add(fmt.Sprintf("%.100q is not a semantic version such as 1.2.3 or v1.2.3", version), path...)
	}
}

// wrongName says what is wrong with a name of an element, or with a key of its identity.
func wrongName(name string) string {
	if len(name) >= minElementName && elementName.MatchString(name) {
		return ""
	}
	return fmt.Sprintf("%.100q has to be at least two characters of a-z, 0-9, -, _ and +, the first and the last of them letters or digits", name)
}

// maxWarnings is how many rules a warning names.
const maxWarnings = 3

// Warnings lists what other readers would refuse, for callers that only read.
func (d *Descriptor) Warnings() []string {
	all := d.Violations()
	if len(all) == 0 {
		return nil
	}
	var texts []string
	for _, violation := range all[:min(len(all), maxWarnings)] {
		texts = append(texts, violation.String())
	}
	more := ""
	if len(all) > maxWarnings {
		more = fmt.Sprintf(" (and %d more)", len(all)-maxWarnings)
	}
	return []string{fmt.Sprintf("other tools may refuse component version %s:%s: %s%s", d.Name, d.Version, strings.Join(texts, "; "), more)}
}
