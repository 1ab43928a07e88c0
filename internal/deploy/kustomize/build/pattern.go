package build

import (
	"fmt"

	"sigs.k8s.io/kustomize/api/types"

	"go.landscaper.dev/internal/base/pattern"
)

// A selector and the name of an image are regular expressions, which the library compiles
// without a limit, and the name of an image once for each image that there is.

// imageEnd is what the library has behind the name of an image.
const imageEnd = "(:[a-zA-Z0-9_.{}-]*)?(@sha256:[a-zA-Z0-9_.{}-]*)?$"

const (
	// textBytes is how many bytes of a text take as long as that the text is there at all.
	textBytes = 64
	// maxCounted bounds what is multiplied; a limit is reached long before.
	maxCounted = 1 << 28
	// instructionsPerWork is how many instructions are executed in a unit of work.
	instructionsPerWork = 2000
)

// patterns refuses regular expressions that are not valid or may take too long.
func (g *guard) patterns(own *part, _, _ string, content *types.Kustomization) error {
	for i, patch := range content.Patches {
		if patch.Target == nil {
			continue
		}
		for _, by := range []struct{ field, text string }{
			{"group", patch.Target.Group}, {"version", patch.Target.Version}, {"kind", patch.Target.Kind}, {"name", patch.Target.Name}, {"namespace", patch.Target.Namespace},
		} {
			if by.text == "" {
				continue
			}
			if err := own.expect("^(?:" + by.text + ")$"); err != nil {
				return fmt.Errorf("patches[%d].target.%s: %w", i, by.field, err)
			}
		}
	}
	for i, image := range content.Images {
		if err := own.expect("^" + image.Name + imageEnd); err != nil {
			return fmt.Errorf("images[%d].name: %w", i, err)
		}
	}
	return nil
}

// expect counts the instructions of a regular expression.
func (p *part) expect(expression string) error {
	compiled, err := pattern.Compile(expression)
	if err != nil {
		return err // says what to do
	}
	p.instructions = min(p.instructions+compiled.Size, maxCounted)
	return nil
}

// textsOf counts the bytes of what regular expressions are compared with: names, and
// images wherever they are.
func textsOf(value any, named bool) (bytes int) {
	switch value := value.(type) {
	case []any:
		for _, entry := range value {
			bytes += textsOf(entry, false)
		}
	case map[string]any:
		for key, entry := range value {
			text, isText := entry.(string)
			switch {
			case !isText:
				bytes += textsOf(entry, named && key == "metadata")
			case key == "image", named && (key == "apiVersion" || key == "kind" || key == "name" || key == "namespace"):
				bytes += textBytes + len(text)
			}
		}
	}
	return bytes
}
