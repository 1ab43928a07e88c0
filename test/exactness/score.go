package exactness

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/preview"
)

// Plan is what a plan has named.
type Plan struct {
	Named map[Key][]string
	// Unknown are reasons by what they are about: a Key, or the path of an item or of an
	// Installation.
	Unknown map[any]string
}

// PlanOf reads the JSON of a plan. An object without a kind or a name is an error.
// Clusters are the names of the Targets by the addresses of their clusters.
func PlanOf(raw []byte, clusters map[string]string) (*Plan, error) {
	result := &preview.Result{}
	if err := json.Unmarshal(raw, result); err != nil {
		return nil, fmt.Errorf("read the plan: %w", err)
	}
	p := &Plan{Named: map[Key][]string{}, Unknown: map[any]string{}}
	for _, item := range result.Items {
		if item.Unknown != "" {
			p.Unknown[item.Path] = item.Unknown
		}
		for _, change := range item.Changes {
			if change.Kind == "" || change.Name == "" {
				return nil, fmt.Errorf("the plan has an empty object in %s: %+v", item.Path, change)
			}
			on := item.Target
			if change.Cluster != "" {
				on = clusters[change.Cluster]
			}
			p.add(Key{on, change.Kind, change.Namespace, change.Name}, change)
		}
	}
	for _, waiting := range result.Waiting {
		p.Unknown[waiting.Path] = waiting.Reason
	}
	return p, nil
}

func (p *Plan) add(key Key, change diff.Change) {
	switch change.Action {
	case diff.Keep:
	case diff.Unknown:
		p.Unknown[key] = change.Reason
	case diff.Move:
		action := string(change.Action)
		if len(change.Fields) > 0 {
			action = moveAndUpdate
		}
		p.Named[key] = append(p.Named[key], action)
	default:
		p.Named[key] = append(p.Named[key], string(change.Action))
	}
}

// excused returns what a plan has said to be unknown and that an object is a part of.
func (p *Plan) excused(key Key, owners []string) (any, bool) {
	if _, ok := p.Unknown[key]; ok {
		return key, true
	}
	for about := range p.Unknown {
		path, isPath := about.(string)
		if isPath && slices.ContainsFunc(owners, func(owner string) bool { return owner == path || strings.HasPrefix(owner, path+"/") }) {
			return path, true
		}
	}
	return nil, false
}

// Score is how exact plans are.
type Score struct {
	Changes, Failed                                 int
	Planned, Changed, Right, Wrong, Missed, Excused int
	// Reasons count what was marked as unknown, Idle that of it under which nothing changed.
	Reasons, Idle map[string]int
	// Followed counts the changes by jobs of other roots, FollowedRight those of them that were
	// planned.
	Followed, FollowedRight int
}

// NewScore returns an empty score.
func NewScore() *Score { return &Score{Reasons: map[string]int{}, Idle: map[string]int{}} }

// Compare adds a change to the score and returns what was wrong.
func (s *Score) Compare(root string, plan *Plan, changed map[Key]string, owners map[Key][]string) []string {
	s.Changes++
	var complaints []string
	used := map[any]bool{}
	for key, action := range changed {
		about, excused := plan.excused(key, owners[key])
		right := slices.Contains(plan.Named[key], action)
		used[about] = used[about] || excused
		if excused && !right {
			s.Excused++
			continue
		}
		s.Changed++
		follows := len(owners[key]) > 0 && !slices.ContainsFunc(owners[key], func(path string) bool { return strings.HasPrefix(path, root+"/") })
		if follows {
			s.Followed++
		}
		if !right {
			s.Missed++
			complaints = append(complaints, fmt.Sprintf("missed: %s %s of %v, planned %v", action, key, owners[key], plan.Named[key]))
			continue
		}
		s.Right++
		if follows {
			s.FollowedRight++
		}
	}
	for key, actions := range plan.Named {
		for _, action := range actions {
			s.Planned++
			if changed[key] != action {
				s.Wrong++
				complaints = append(complaints, fmt.Sprintf("wrong: %s %s of %v, which did: %q", action, key, owners[key], changed[key]))
			}
		}
	}
	for about, reason := range plan.Unknown {
		s.Reasons[general(reason)]++
		if !used[about] {
			s.Idle[general(reason)]++
		}
	}
	slices.Sort(complaints)
	return complaints
}

var names = regexp.MustCompile(`"[^"]*"|\b[a-z]+(-[a-z0-9]+)*-\d+\b|test-[a-z0-9]+|\S*/\S+`)

// general takes the names out of a reason.
func general(reason string) string {
	return names.ReplaceAllString(strings.Join(strings.Fields(reason), " "), "…")
}

// Add adds another score.
func (s *Score) Add(other *Score) {
	s.Changes, s.Failed = s.Changes+other.Changes, s.Failed+other.Failed
	s.Planned, s.Changed, s.Right = s.Planned+other.Planned, s.Changed+other.Changed, s.Right+other.Right
	s.Wrong, s.Missed, s.Excused = s.Wrong+other.Wrong, s.Missed+other.Missed, s.Excused+other.Excused
	s.Followed, s.FollowedRight = s.Followed+other.Followed, s.FollowedRight+other.FollowedRight
	for reason, count := range other.Reasons {
		s.Reasons[reason] += count
	}
	for reason, count := range other.Idle {
		s.Idle[reason] += count
	}
}

func percent(part, whole int) float64 {
	if whole == 0 {
		return 100
	}
	return 100 * float64(part) / float64(whole)
}

// Print writes the table.
func (s *Score) Print(out io.Writer) {
	own, ownRight := s.Changed-s.Followed, s.Right-s.FollowedRight
	fmt.Fprintf(out, "changes %d (jobs that failed: %d)\n", s.Changes, s.Failed)
	fmt.Fprintf(out, "planned %d, changed %d, right %d, wrong %d, missed %d\n", s.Planned, s.Changed, s.Right, s.Wrong, s.Missed)
	fmt.Fprintf(out, "precision %.1f %%, recall %.1f %%, without roots that follow %.1f %%\n", percent(s.Planned-s.Wrong, s.Planned), percent(s.Right, s.Changed), percent(ownRight, own))
	fmt.Fprintf(out, "unknowable: %d objects changed below what was marked; the marks by reason (of them without any change):\n", s.Excused)
	for _, reason := range slices.Sorted(keysOf(s.Reasons)) {
		fmt.Fprintf(out, "  %4d (%d) %s\n", s.Reasons[reason], s.Idle[reason], reason)
	}
}

func keysOf(counts map[string]int) iter.Seq[string] { return maps.Keys(counts) }
