package builtin

import (
	"fmt"
	"io"
	"strings"

	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
)

var accessText = map[call.Access]string{
	call.Files: "Needs access level `files` or `full`.",
	call.Full:  "Needs access level `full`.",
}

// WriteReference writes the reference of all functions as Markdown.
func WriteReference(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# spiff functions\n\n" +
		"<!-- Generated from the function table by `make spiff-docs`. Do not edit. -->\n\n" +
		"Functions are called by a bare name, `length(list)`. Arguments in brackets are optional, `…` means any number.\n" +
		"A wrong number or type of arguments is an error of the calling expression, so `||` can catch it. The\n" +
		"[tutorial](tutorial.md) explains the language itself.\n")
	var group call.Group
	for _, f := range All() {
		if f.Group != group {
			group = f.Group
			fmt.Fprintf(&b, "\n## %s\n", group)
		}
		fmt.Fprintf(&b, "\n### %s\n\n`%s` → %s\n\n%s\n", f.Name, f.Usage, f.Result, f.Doc)
		if text := accessText[f.Access]; text != "" {
			fmt.Fprintf(&b, "\n%s\n", text)
		}
		if f.Example != "" {
			fmt.Fprintf(&b, "\nExample: `(( %s ))` gives `%s`.\n", f.Example, strings.ReplaceAll(f.Gives, "\n", "\\n"))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
