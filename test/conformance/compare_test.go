package main

import "testing"

func TestCompare(t *testing.T) {
	tests := []struct {
		reason    string
		want, got any
		messages  []string
		same      bool
	}{
		{"numbers are compared by value", 1, 1.0, nil, true},
		{"a number does not equal its text", 1, "1", nil, false},
		{"lists have an order", []any{1, 2}, []any{2, 1}, nil, false},
		{"missing fields", map[string]any{"a": 1}, map[string]any{}, nil, false},
		{"surplus fields", map[string]any{}, map[string]any{"a": 1}, nil, false},
		{"a nil field is not a missing one", map[string]any{"a": nil}, map[string]any{}, nil, false},
		{"printed lambdas are compared without white space", "(( lambda|x|->x + 1 ))", "((lambda |x|-> x + 1))", nil, true},
		{"other texts are compared exactly", "a b", "ab", nil, false},
		{"YAML texts are compared by content", "a: 1\nb: 2\n", "b: 2\na: 1\n", nil, true},
		{"a message may be any text", map[string]any{"e": "x"}, map[string]any{"e": "y"}, []string{"e"}, true},
		{"a message must not be empty", map[string]any{"e": "x"}, map[string]any{"e": ""}, []string{"e"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.reason, func(t *testing.T) {
			c := &comparison{messages: tt.messages}
			c.compare("", tt.want, tt.got)
			if (c.difference == "") != tt.same {
				t.Errorf("difference %q", c.difference)
			}
		})
	}
}

func TestCheckError(t *testing.T) {
	report := "error generating manifest: unresolved nodes:\n" +
		"\t((\n\ta\n\t))\tin t.yaml\tx.y\t()\t*broken\n" +
		"\t(( b ))\tin t.yaml\tz\t(q)\t-'a' unresolved\n" +
		"\t\t(( c ))\tin t.yaml\tnested\t()\t*not counted\n"
	tests := []struct {
		reason        string
		nodes         []errorNode
		failed        bool
		stdout        string
		basic, strict bool
	}{
		{"paths and classes agree", []errorNode{{"z", "-"}, {"x.y", "*"}}, true, "", true, true},
		{"a class may be open", []errorNode{{"z", ""}, {"x.y", "*"}}, true, "", true, true},
		{"a class differs", []errorNode{{"z", "@"}, {"x.y", "*"}}, true, "", true, false},
		{"a node is missing", []errorNode{{"z", "-"}}, true, "", true, false},
		{"output in spite of the error", []errorNode{{"z", "-"}, {"x.y", "*"}}, true, "a: 1", false, false},
		{"no error", nil, false, "a: 1", false, false},
	}
	for _, tt := range tests {
		t.Run(tt.reason, func(t *testing.T) {
			c := testCase{Error: &expectedError{Nodes: tt.nodes}}
			o := c.checkError(tt.failed, tt.stdout, report)
			if o.ok != tt.basic || o.strict != tt.strict {
				t.Errorf("basic %v, strict %v: %s", o.ok, o.strict, o.detail)
			}
		})
	}
}
