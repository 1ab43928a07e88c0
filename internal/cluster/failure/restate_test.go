package failure

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func FuzzRestated(f *testing.F) {
	f.Add(422, "Invalid", "FieldValueInvalid", "spec.x", `Invalid value: "canary-7c1": field is immutable`)
	f.Add(403, "canary-7c1", "canary-7c1", "data[canary-7c1]", "admission webhook canary-7c1 denied")
	f.Add(400, "", "", "metadata.labels.canary-7c1", "canary-7c1")
	f.Fuzz(func(t *testing.T, code int, reason, cause, field, message string) {
		said := &metav1.Status{Reason: metav1.StatusReason(reason), Message: message, Details: &metav1.StatusDetails{Name: message, Causes: []metav1.StatusCause{{Type: metav1.CauseType(cause), Field: field, Message: message}}}}
		told, err := json.Marshal(Restated("GET of x", code, said))
		if err != nil {
			t.Fatal(err)
		}
		// Words of the message that are long enough not to be ours by chance.
		for _, word := range strings.Fields(message) {
			if len(word) > 20 && strings.Contains(string(told), word) && !strings.Contains(field, word) {
				t.Errorf("%s repeats %q", told, word)
			}
		}
	})
}

// TestCorpora: the fuzz targets have inputs that were found once.
func TestCorpora(t *testing.T) {
	for _, name := range []string{"FuzzRestated"} {
		if entries, err := os.ReadDir("testdata/fuzz/" + name); err != nil || len(entries) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
