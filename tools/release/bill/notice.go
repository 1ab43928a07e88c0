package bill

import (
	"fmt"
	"slices"
	"strings"
)

// Notice is the text that goes with programs and images: who wrote what is in them, and under
// which licences. A text that many modules have is there once.
func Notice(modules []Module) []byte {
	var out strings.Builder
	out.WriteString("Landscaper\n\nThe programs and images of Landscaper contain what others have written. This file lists it,\nwith the texts of its licences.\n\n")
	type group struct {
		text    string
		modules []string
	}
	var groups []*group
	byText := map[string]*group{}
	for _, module := range modules {
		fmt.Fprintf(&out, "  %s (%s)", module, strings.Join(module.Licences(), ", "))
		if module.Purpose != "" {
			fmt.Fprintf(&out, ": %s", module.Purpose)
		}
		out.WriteString("\n")
		for _, text := range module.Texts {
			if byText[text.Content] == nil {
				byText[text.Content] = &group{text: text.Content}
				groups = append(groups, byText[text.Content])
			}
			if same := byText[text.Content]; !slices.Contains(same.modules, module.String()) {
				same.modules = append(same.modules, module.String())
			}
		}
	}
	for _, group := range groups {
		fmt.Fprintf(&out, "\n%s\n\n  %s\n\n%s\n", strings.Repeat("=", 80), strings.Join(group.modules, "\n  "), strings.TrimSpace(group.text))
	}
	return []byte(out.String())
}
