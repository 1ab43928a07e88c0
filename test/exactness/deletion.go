package exactness

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Foretold is what the preview of a deletion has named.
type Foretold struct {
	// Removed are the objects that are removed, with the paths of their items.
	Removed map[Key][]string
	// Unknown are reasons by the paths of items.
	Unknown map[string]string
}

var (
	itemLine   = regexp.MustCompile(`^\d+\. (\S+)(?: on (\S+))?( \(what it has deployed stays\))?$`)
	objectLine = regexp.MustCompile(`^   - (\S+) (?:(\S+)/)?(\S+?)(?: on the earlier cluster (\S+))?$`)
)

// ForetoldBy reads what "delete --dry-run" prints. Clusters are the names of the Targets by
// the addresses of their clusters.
func ForetoldBy(text string, clusters map[string]string) (*Foretold, error) {
	preview := &Foretold{Removed: map[Key][]string{}, Unknown: map[string]string{}}
	path, target := "", ""
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		item, object := itemLine.FindStringSubmatch(line), objectLine.FindStringSubmatch(line)
		switch {
		case line == "Nothing is deployed.":
		case item != nil:
			path, target = item[1], item[2]
		case strings.HasPrefix(line, "   ? "):
			preview.Unknown[path] = strings.TrimPrefix(line, "   ? ")
		case strings.HasPrefix(line, "   → "):
			// It stays, with the label of another item.
		case object != nil && object[1] == "release":
			preview.Unknown[path] = "a release on an earlier cluster"
		case object != nil:
			on := target
			if object[4] != "" {
				on = clusters[object[4]]
			}
			key := Key{on, object[1], object[2], object[3]}
			preview.Removed[key] = append(preview.Removed[key], path)
		default:
			return nil, fmt.Errorf("the preview has a line of its own: %q", line)
		}
	}
	return preview, nil
}

// Deletions counts how exact the previews of deletions are.
type Deletions struct {
	Roots, Foretold, Removed, Excused, Wrong, Missed int
}

// Compare compares what a preview has named with what a deletion has changed.
func (d *Deletions) Compare(root string, preview *Foretold, changed map[Key]string, owners map[Key][]string) (complaints []string) {
	d.Roots++
	for key, paths := range preview.Removed {
		d.Foretold++
		if changed[key] != "delete" && !preview.excuses(paths) {
			d.Wrong++
			complaints = append(complaints, fmt.Sprintf("wrong: %s of %s was not deleted", key, strings.Join(paths, " and ")))
		}
	}
	for key, what := range changed {
		if what == "delete" {
			d.Removed++
		}
		switch {
		case what == "delete" && preview.Removed[key] != nil:
		case preview.excuses(owners[key]):
			d.Excused++
		default:
			d.Missed++
			complaints = append(complaints, fmt.Sprintf("missed: %s: %s (of %s)", what, key, strings.Join(owners[key], " and ")))
		}
	}
	slices.Sort(complaints)
	return complaints
}

func (f *Foretold) excuses(owners []string) bool {
	return slices.ContainsFunc(owners, func(path string) bool { return f.Unknown[path] != "" })
}

// Add adds the counts of another landscape.
func (d *Deletions) Add(other Deletions) {
	d.Roots, d.Foretold, d.Removed = d.Roots+other.Roots, d.Foretold+other.Foretold, d.Removed+other.Removed
	d.Excused, d.Wrong, d.Missed = d.Excused+other.Excused, d.Wrong+other.Wrong, d.Missed+other.Missed
}

// String is the counts in one line.
func (d Deletions) String() string {
	return fmt.Sprintf("%d roots deleted: %d objects foretold, %d removed, %d excused, %d wrong, %d missed", d.Roots, d.Foretold, d.Removed, d.Excused, d.Wrong, d.Missed)
}
