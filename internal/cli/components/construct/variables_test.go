package construct

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEnvironment(t *testing.T) {
	t.Setenv("SHOP_VERSION", "1")
	for _, asked := range []bool{false, true} {
		values, err := Variables(asked, nil, nil)
		if _, given := values["SHOP_VERSION"]; err != nil || given != asked {
			t.Errorf("the environment is used only if that is asked for: %t, %v", asked, err)
		}
	}
}

func TestSettings(t *testing.T) {
	for _, test := range []struct {
		reason, text string
		want         map[string]string
		err          string
	}{
		{"numbers keep their digits", "A: 1.10\nB: 1000000\nC: 123456789012345678901234567890\nD: text\nE: true", map[string]string{"A": "1.10", "B": "1000000", "C": "123456789012345678901234567890", "D": "text", "E": "true"}, ""},
		{"nothing", "", map[string]string{}, ""},
		{"no map", "[a]", nil, "the file must be a map of names to values"},
		{"a value that is not a text", "A: [x]", nil, "the value of A must be a text, a number or a truth value"},
		{"a name twice", "A: x\nA: y", nil, "line 2, column 1: the key is there twice"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "settings.yaml")
			if err := os.WriteFile(file, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := Variables(false, []string{file}, nil)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v, want %q", err, test.err)
				}
				return
			}
			if err != nil || !maps.Equal(got, test.want) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

// TestWrongSettingsInOrder: of several wrong settings the first one is named each time.
func TestWrongSettingsInOrder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.yaml")
	if err := os.WriteFile(file, []byte("{c: [], a: [], b: []}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if _, err := Variables(false, []string{file}, nil); err == nil || !strings.Contains(err.Error(), "the value of a must") {
			t.Fatalf("got %v", err)
		}
	}
}
