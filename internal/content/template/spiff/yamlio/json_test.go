package yamlio_test

import (
	"encoding/json"
	"strings"
	"testing"

	"go.landscaper.dev/internal/content/template/spiff/value"
	"go.landscaper.dev/internal/content/template/spiff/yamlio"
	"go.landscaper.dev/test/language"
)

// TestJSONIsYAML reads what was written as JSON by both, as a key and as a value.
func TestJSONIsYAML(t *testing.T) {
	for _, text := range append(language.Texts(300), "\x7f", "\u0080", "\u0085", "\u009f", "\ufeff", "\uffff", "\U0010ffff") {
		t.Run(strings.ToValidUTF8(text, "?"), func(t *testing.T) {
			written, err := yamlio.JSON(value.MapOf(text, value.Text(text)))
			if err != nil {
				t.Fatal(err)
			}
			var got map[string]string
			if err := json.Unmarshal([]byte(written), &got); err != nil || got[text] != text {
				t.Errorf("%s is read as %q, %v", written, got, err)
			}
			n, err := yamlio.ReadOne([]byte(written), "written", true)
			if err != nil {
				t.Fatalf("%s: %v", written, err)
			}
			if !value.Identical(n.Value, value.MapOf(text, value.Text(text))) {
				t.Errorf("%s is read as %v", written, yamlio.ToGo(n.Value))
			}
		})
	}
}
