package main

import (
	"encoding/json"
	"strings"
)

// entry is a section that a search finds: the titles of its page and of itself, its place, its text, and
// the reader that it is for.
type entry struct {
	Page    string `json:"p"`
	Heading string `json:"h,omitempty"`
	URL     string `json:"u"`
	Text    string `json:"x,omitempty"`
	Section string `json:"s,omitempty"`
}

// maxText bounds the text of a section; what is long is found by its beginning.
const maxText = 4000

// index returns the script that the pages load for the first search. It is a script and no file of JSON: a
// browser loads that without a server, too.
func index(pages []*page, sections map[string]string) ([]byte, error) {
	var entries []entry
	for _, p := range pages {
		for i, text := range p.texts {
			e := entry{Page: p.title, URL: p.url, Section: sections[p.file]}
			if i > 0 {
				h := p.headings[i-1]
				e.URL += "#" + h.ID
				if h.Level > 1 {
					e.Heading = h.Text
				}
			}
			e.Text = strings.TrimSpace(text)
			if len(e.Text) > maxText {
				e.Text = strings.ToValidUTF8(e.Text[:maxText], "")
			}
			if i > 0 || e.Text != "" {
				entries = append(entries, e)
			}
		}
	}
	raw, err := json.Marshal(entries)
	if err != nil {
		return nil, err
	}
	return append(append([]byte("window.searchIndex = "), raw...), ";\n"...), nil
}
