package config

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func asMap(t *testing.T, c *Config) map[string]any {
	t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]any{}
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

// shown writes a value for a row of a table.
func shown(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case []any:
		var texts []string
		for _, one := range value {
			texts = append(texts, shown(one))
		}
		return strings.Join(texts, " ")
	}
	return fmt.Sprint(value)
}
