package main

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// comparison finds the first difference between two values.
type comparison struct {
	messages   []string // paths that hold a message text
	difference string
}

func (c *comparison) differ(path, format string, args ...any) {
	if c.difference == "" {
		c.difference = fmt.Sprintf("at %q: ", path) + fmt.Sprintf(format, args...)
	}
}

func (c *comparison) compare(path string, want, got any) {
	if c.isMessage(path) {
		if text, ok := got.(string); !ok || text == "" {
			c.differ(path, "a message is expected, not %v", got)
		}
		return
	}
	switch w := want.(type) {
	case map[string]any:
		c.compareMap(path, w, got)
	case []any:
		g, ok := got.([]any)
		if !ok || len(w) != len(g) {
			c.differ(path, "%v instead of %v", got, want)
			return
		}
		for i := range w {
			c.compare(fmt.Sprintf("%s.[%d]", path, i), w[i], g[i])
		}
	case string:
		if g, ok := got.(string); !ok || !sameText(w, g) {
			c.differ(path, "%#v instead of %#v", got, want)
		}
	default:
		if !sameScalar(want, got) {
			c.differ(path, "%#v instead of %#v", got, want)
		}
	}
}

func (c *comparison) compareMap(path string, want map[string]any, got any) {
	g, ok := got.(map[string]any)
	if !ok {
		c.differ(path, "%v instead of %v", got, want)
		return
	}
	for k, w := range want {
		v, ok := g[k]
		if !ok {
			c.differ(path, "field %q is missing", k)
			return
		}
		c.compare(path+"."+k, w, v)
	}
	for k := range g {
		if _, ok := want[k]; !ok {
			c.differ(path, "field %q is too much", k)
		}
	}
}

func (c *comparison) isMessage(path string) bool {
	path = strings.TrimPrefix(path, ".")
	for _, m := range c.messages {
		if m == path || strings.ReplaceAll(m, "[", ".[") == path {
			return true
		}
	}
	return false
}

// sameText compares strings; printed lambdas and templates without white
// space, YAML texts by content.
func sameText(want, got string) bool {
	if want == got {
		return true
	}
	if strings.HasPrefix(want, "(( lambda") || strings.HasPrefix(want, "(( &") {
		return strings.Join(strings.Fields(want), "") == strings.Join(strings.Fields(got), "")
	}
	if !strings.Contains(want, "\n") {
		return false
	}
	var w, g any
	if yaml.Unmarshal([]byte(want), &w) != nil || yaml.Unmarshal([]byte(got), &g) != nil {
		return false
	}
	c := &comparison{}
	c.compare("", w, g)
	_, isText := w.(string)
	return !isText && c.difference == ""
}

func sameScalar(want, got any) bool {
	w, wOk := number(want)
	g, gOk := number(got)
	if wOk && gOk {
		return w == g
	}
	return want == got
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}
