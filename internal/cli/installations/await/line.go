package await

import "go.landscaper.dev/internal/cli/terminal"

// Line is the connection to an API server, as far as those know who follow it.
type Line struct {
	// Lost is the last message about a broken connection.
	Lost string
}

// News is what there is to say about the connection if that has changed.
func (l *Line) News(err error) string {
	before := l.Lost
	l.Lost = ""
	if err != nil {
		l.Lost = terminal.OneLine("the connection to the API server is lost: " + err.Error())
	}
	switch {
	case l.Lost != "" && before == "":
		return l.Lost + "; trying again"
	case l.Lost == "" && before != "":
		return "the connection to the API server is back"
	}
	return ""
}
