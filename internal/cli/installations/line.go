package installations

import "go.landscaper.dev/internal/cli/terminal"

// line is the connection to an API server, as far as those know who follow it.
type line struct {
	// lost is the last message about a broken connection.
	lost string
}

// news is what there is to say about the connection if that has changed.
func (l *line) news(err error) string {
	before := l.lost
	l.lost = ""
	if err != nil {
		l.lost = terminal.OneLine("the connection to the API server is lost: " + err.Error())
	}
	switch {
	case l.lost != "" && before == "":
		return l.lost + "; trying again"
	case l.lost == "" && before != "":
		return "the connection to the API server is back"
	}
	return ""
}
