package causes

import (
	"regexp"
	"strings"
)

// names is what one look must name, each as a regular expression in which NS stands for
// the namespace. What is empty does not exist for this fault: only faults on a target
// have a cluster.
type names struct {
	reason, object, cluster, next string
}

// criteria are the four, with the letter that each has in the table.
func (n names) criteria() []criterion {
	return []criterion{{'r', n.reason}, {'o', n.object}, {'c', n.cluster}, {'n', n.next}}
}

type criterion struct {
	letter     byte
	expression string
}

// objectName finds objects in expressions: ConfigMap "?NS/app.
var objectName = regexp.MustCompile(`(\w+) "\?((?:NS[\w-]*/|nowhere-at-all/|)[\w\\.-]*[\w-]+)`)

// namedIn reports whether a text names the object. Older messages write NS/app of type ConfigMap.
func (c criterion) namedIn(text, space string) bool {
	expression := objectName.ReplaceAllString(c.expression, `(?:$1 "?$2|$2 of type $1)`)
	expression = strings.ReplaceAll(expression, "NS", regexp.QuoteMeta(space))
	return regexp.MustCompile(`(?i)` + expression).MatchString(text)
}

// verdict is what was named by the surfaces at one moment: for each a letter for each
// criterion, "-" for what is missing and "." for what does not exist.
type verdict map[string]string

// judge reads what was seen.
func (n names) judge(seen look, space string) verdict {
	v := verdict{}
	for surface, text := range seen {
		text = strings.Join(strings.Fields(text), " ")
		var cells strings.Builder
		for _, c := range n.criteria() {
			switch {
			case c.expression == "":
				cells.WriteByte('.')
			case c.namedIn(text, space):
				cells.WriteByte(c.letter)
			default:
				cells.WriteByte('-')
			}
		}
		v[surface] = cells.String()
	}
	return v
}

// full reports whether every surface names everything.
func (v verdict) full() bool {
	for _, cells := range v {
		if strings.Contains(cells, "-") {
			return false
		}
	}
	return true
}

// lenient reports whether everything is named, each by some surface.
func (v verdict) lenient() bool {
	for i := range 4 {
		missing := 0
		for _, cells := range v {
			if cells[i] == '-' {
				missing++
			}
		}
		if missing == len(v) {
			return false
		}
	}
	return true
}

// missing lists what is not named, by surfaces.
func (v verdict) missing() string {
	words := map[byte]string{'r': "reason", 'o': "object", 'c': "cluster", 'n': "next step"}
	var all []string
	for _, surface := range surfaces {
		var gone []string
		for i, letter := range []byte("rocn") {
			if v[surface][i] == '-' {
				gone = append(gone, words[letter])
			}
		}
		if len(gone) > 0 {
			all = append(all, surface+" misses "+strings.Join(gone, ", "))
		}
	}
	return strings.Join(all, "; ")
}
