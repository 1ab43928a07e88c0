package showcase

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// suffix is the random end of a name that Landscaper has made.
	suffix = regexp.MustCompile(`(-(?:item|tokenprovider|tokenconsumer))-[a-z0-9]{5}\b`)
	// columns are separated by at least two blanks.
	column = regexp.MustCompile(`\S+(?: \S+)*`)
)

// comparable is the output of a command without what differs from run to run: suffixes of
// names, the order of roots, ages, addresses, and columns that only some versions of
// Kubernetes have.
func comparable(shot Shot, output string) string {
	if strings.HasPrefix(shot.Command, "landscaper-cli") {
		return roots(suffix.ReplaceAllString(output, "$1-*"))
	}
	return table(output)
}

// roots sorts the trees of an output.
func roots(output string) string {
	trees := strings.Split(strings.Trim(output, "\n"), "\n\n")
	slices.Sort(trees)
	return strings.Join(trees, "\n\n") + "\n"
}

// compared are the columns of tables that are the same in every run.
var compared = []string{"NAME", "TYPE", "DATA", "READY"}

// table keeps the columns of a table that are compared.
func table(output string) string {
	lines := strings.Split(strings.Trim(output, "\n"), "\n")
	heads := column.FindAllStringIndex(lines[0], -1)
	var kept []string
	for _, line := range lines {
		var cells []string
		for i, head := range heads {
			if !slices.Contains(compared, lines[0][head[0]:head[1]]) {
				continue
			}
			end := len(line)
			if i+1 < len(heads) {
				end = min(end, heads[i+1][0])
			}
			cells = append(cells, strings.TrimSpace(line[min(head[0], end):end]))
		}
		kept = append(kept, strings.Join(cells, " | "))
	}
	return strings.Join(kept, "\n") + "\n"
}
