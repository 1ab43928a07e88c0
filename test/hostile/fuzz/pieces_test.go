package fuzz

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// composer chooses pieces. The same seed and number make the same case.
type composer struct {
	*rand.Rand
	// depth bounds how deep pieces are in each other.
	depth int
}

func compose(seed uint64, number int) *composer {
	return &composer{Rand: rand.New(rand.NewPCG(seed, uint64(number))), depth: 4}
}

// of chooses one of some pieces.
func of[T any](c *composer, pieces ...T) T { return pieces[c.IntN(len(pieces))] }

// size is small mostly, and sometimes very large.
func (c *composer) size() int { return of(c, 0, 1, 2, 3, 10, 30, 100, 1000, 20_000, 1_000_000) }

// few is a size of what is there itself, in the text.
func (c *composer) few() int { return of(c, 1, 1, 2, 3, 10, 50, 300) }

// deeper chooses a simple piece at the bottom, and else one of all.
func (c *composer) deeper(simple, all func() string) string {
	if c.depth == 0 {
		return simple()
	}
	c.depth--
	defer func() { c.depth++ }()
	return all()
}

// lines repeats a piece with its number.
func lines(format string, count int) string {
	var all strings.Builder
	for i := range count {
		all.WriteString(strings.ReplaceAll(format, "#", fmt.Sprint(i)))
	}
	return all.String()
}

// text is an expression of a Go template that gives a text.
func (c *composer) text() string {
	return c.deeper(func() string {
		return of(c, `"a"`, `"2006-01-02"`, `$a`, `$b`, `"a: &x [1,2]\nb: [*x,*x]"`, `"{{ . }}"`, `"%[1]*[1]d"`, `"(a|b)*"`)
	}, func() string {
		x, n := c.text, c.size
		return of(c,
			func() string { return fmt.Sprintf("(repeat %d %s)", n(), x()) },
			func() string { return fmt.Sprintf("(indent %d %s)", n(), x()) },
			func() string { return fmt.Sprintf("(replace %s %s %s)", x(), x(), x()) },
			func() string { return fmt.Sprintf("(printf %s %s %s)", x(), c.any(), x()) },
			func() string { return fmt.Sprintf(`(printf "%%%dd" %d)`, n(), n()) },
			func() string { return fmt.Sprintf("(print %s %s)", c.any(), x()) },
			func() string { return fmt.Sprintf("(join %s %s)", x(), c.list()) },
			func() string {
				return fmt.Sprintf("(%s %s)", of(c, "toYaml", "toJson", "toPrettyJson", "toString", "quote"), c.any())
			},
			func() string {
				return fmt.Sprintf("(%s %s)", of(c, "b64enc", "b32enc", "upper", "title", "snakecase", "shuffle", "sha256sum", "html", "trim", "nospace", "initials", "swapcase"), x())
			},
			func() string { return fmt.Sprintf("(wrapWith %d %s %s)", n(), x(), x()) },
			func() string { return fmt.Sprintf("(regexReplaceAll %s %s %s)", x(), x(), x()) },
			func() string { return fmt.Sprintf("(randAlphaNum %d)", min(n(), 60_000)) },
			func() string { return fmt.Sprintf("(seq %d %d)", n(), n()) },
			func() string { return fmt.Sprintf("(abbrev %d %s)", n(), x()) },
			func() string { return fmt.Sprintf("((now).Format %s)", x()) },
			func() string { return fmt.Sprintf("(date %s now)", x()) },
			func() string { return fmt.Sprintf("(tpl %s %s)", x(), c.any()) },
			func() string { return fmt.Sprintf("(cat %s %s)", c.any(), c.any()) },
		)()
	})
}

// list is an expression that gives a list.
func (c *composer) list() string {
	return c.deeper(func() string { return of(c, "(list)", "(list 1 2 3)", "$l") }, func() string {
		return of(c,
			func() string { return fmt.Sprintf("(until %d)", c.size()) },
			func() string { return fmt.Sprintf("(untilStep 0 %d %d)", c.size(), c.size()) },
			func() string { return fmt.Sprintf("(splitList %s %s)", c.text(), c.text()) },
			func() string { return fmt.Sprintf("(append %s %s)", c.list(), c.any()) },
			func() string { return fmt.Sprintf("(concat %s %s)", c.list(), c.list()) },
			func() string { return fmt.Sprintf("(list %s %s %s)", c.any(), c.any(), c.any()) },
			func() string {
				return fmt.Sprintf("(%s %s)", of(c, "uniq", "reverse", "sortAlpha", "compact", "rest", "initial"), c.list())
			},
			func() string { return fmt.Sprintf("(%s %s)", of(c, "values", "keys"), c.dict()) },
			func() string { return fmt.Sprintf("(chunk %d %s)", 1+c.size(), c.list()) },
			func() string { return fmt.Sprintf("(without %s %s)", c.list(), c.any()) },
			func() string { return fmt.Sprintf("(regexFindAll %s %s -1)", c.text(), c.text()) },
			func() string { return fmt.Sprintf("(regexSplit %s %s -1)", c.text(), c.text()) },
		)()
	})
}

// dict is an expression that gives a map.
func (c *composer) dict() string {
	return c.deeper(func() string { return of(c, "(dict)", `(dict "a" 1)`, "$d") }, func() string {
		return of(c,
			func() string { return fmt.Sprintf("(dict %s %s %s %s)", c.text(), c.any(), c.text(), c.any()) },
			func() string { return fmt.Sprintf("(set %s %s %s)", c.dict(), c.text(), c.any()) },
			func() string {
				return fmt.Sprintf("(%s %s %s)", of(c, "merge", "mergeOverwrite"), c.dict(), c.dict())
			},
			func() string { return fmt.Sprintf("(deepCopy %s)", c.dict()) },
			func() string { return fmt.Sprintf("(%s %s)", of(c, "fromYaml", "fromJson", "urlParse"), c.text()) },
		)()
	})
}

// any is any expression.
func (c *composer) any() string {
	return of(c, c.text, c.text, c.list, c.dict, func() string { return fmt.Sprint(c.size()) }, func() string { return of(c, "true", `""`, "1.5", "now") })()
}

// template is the text of a Go template that prints little.
func (c *composer) template() string {
	var text strings.Builder
	text.WriteString(`{{ $a := "x" }}{{ $b := "y" }}{{ $l := list 1 }}{{ $d := dict "a" "b" }}`)
	if of(c, true, false, false) {
		fmt.Fprintf(&text, `{{ define "t" }}%s{{ template "t" . }}{{ end }}`, of(c, "", "{{ if eq 1 2 }}"+"{{ end }}", strings.Repeat("x", 1000)))
	}
	for range 1 + c.IntN(4) {
		text.WriteString(c.statement())
	}
	return text.String()
}

func (c *composer) statement() string {
	assignment := func() string {
		return of(c,
			func() string { return fmt.Sprintf("{{ $%s = %s }}", of(c, "a", "b"), c.text()) },
			func() string { return fmt.Sprintf("{{ $l = %s }}", c.list()) },
			func() string { return fmt.Sprintf("{{ $d = %s }}", c.dict()) },
			func() string {
				return fmt.Sprintf(`{{ $x := set $d %s %s }}`, c.text(), of(c, "$l", "$a", "$b", "$l", "$d"))
			},
		)()
	}
	return c.deeper(assignment, func() string {
		return of(c,
			assignment, assignment,
			func() string { return fmt.Sprintf("{{ range until %d }}%s{{ end }}", c.size(), c.statement()) },
			func() string {
				return fmt.Sprintf("{{ range %s }}%s%s{{ end }}", c.list(), c.statement(), c.statement())
			},
			func() string { return fmt.Sprintf("{{ if %s }}%s{{ end }}", c.any(), c.statement()) },
			func() string { return fmt.Sprintf(`{{ $x := include "t" %s }}`, c.any()) },
			func() string { return fmt.Sprintf(`{{ $x := %s }}`, c.any()) },
		)()
	})
}

// spiff is an expression of spiff that gives anything.
func (c *composer) spiff() string {
	return of(c, c.spiffText, c.spiffList, c.spiffList, c.spiffMap, c.spiffNumber)()
}

func (c *composer) spiffNumber() string {
	return c.deeper(func() string { return of(c, "1", "3", "number") }, func() string {
		return of(c,
			func() string { return fmt.Sprint(c.size()) },
			func() string {
				return fmt.Sprintf("(%s %s %s)", c.spiffNumber(), of(c, "+", "-", "*"), c.spiffNumber())
			},
			func() string { return fmt.Sprintf("length(%s)", of(c, c.spiffText, c.spiffList, c.spiffMap)()) },
			func() string { return fmt.Sprintf("sum[%s|0|s,x|->s + 1]", c.spiffList()) },
		)()
	})
}

func (c *composer) spiffText() string {
	return c.deeper(func() string { return of(c, `"a"`, "text", `"(a|b)*"`) }, func() string {
		e := c.spiffText
		return of(c,
			func() string { return fmt.Sprintf("(%s %s)", e(), e()) },
			func() string { return fmt.Sprintf("join(%s, %s)", e(), c.spiffList()) },
			func() string { return fmt.Sprintf("replace(%s, %s, %s)", e(), e(), e()) },
			func() string { return fmt.Sprintf("sum[%s|%s|s,x|->s s]", c.spiffList(), e()) },
			func() string {
				return fmt.Sprintf("format(%s, %s)", of(c, `"%9999d"`, `"%s%v"`, `"%v"`), c.spiff())
			},
			func() string { return fmt.Sprintf("%s(%s)", of(c, "base64", "md5", "trim", "upper"), e()) },
			func() string { return fmt.Sprintf("%s(%s)", of(c, "asyaml", "asjson"), c.spiff()) },
		)()
	})
}

func (c *composer) spiffList() string {
	return c.deeper(func() string { return of(c, "list", "[1, 2, 3]", "[]") }, func() string {
		e := c.spiffList
		return of(c,
			func() string { return fmt.Sprintf("[1 .. %d]", c.size()) },
			func() string { return fmt.Sprintf("map[%s|x|->%s]", e(), of(c, "x", c.spiff(), ".double(list)")) },
			func() string { return fmt.Sprintf("filter[%s|x|->%s]", e(), of(c, "true", "x")) },
			func() string { return fmt.Sprintf("sum[%s|%s|s,x|->s s]", e(), e()) },
			func() string { return fmt.Sprintf("(%s %s)", e(), e()) },
			func() string { return fmt.Sprintf("[%s, %s, %s]", c.spiff(), c.spiff(), c.spiff()) },
			func() string { return fmt.Sprintf("split(%s, %s)", c.spiffText(), c.spiffText()) },
			func() string { return fmt.Sprintf("match(%s, %s)", c.spiffText(), c.spiffText()) },
			func() string { return fmt.Sprintf("%s(%s)", of(c, "sort", "uniq", "reverse", ".double"), e()) },
			func() string { return fmt.Sprintf("keys(%s)", c.spiffMap()) },
		)()
	})
}

func (c *composer) spiffMap() string {
	return c.deeper(func() string { return of(c, "map", "{}", `{"a"="b"}`) }, func() string {
		return of(c,
			func() string { return fmt.Sprintf("merge(%s, %s)", c.spiffMap(), c.spiffMap()) },
			func() string { return fmt.Sprintf(`{"a"=%s, "b"=%s}`, c.spiff(), c.spiff()) },
			func() string { return fmt.Sprintf("map{%s|x|->%s}", c.spiffMap(), c.spiff()) },
			func() string { return fmt.Sprintf(`makemap(%s, %s)`, c.spiffText(), c.spiff()) },
			func() string { return fmt.Sprintf(".grow(%d)", c.size()) },
		)()
	})
}

// schema is a JSON schema.
func (c *composer) schema() string {
	return c.deeper(func() string {
		return of(c, `{"type":"object"}`, `{"type":"string","pattern":"^(a|a)*$"}`, `{"$ref":"#/definitions/d"}`, `{"$ref":"#"}`, `true`, `{"enum":[1,2]}`, `{"minLength":1000000000}`)
	}, func() string {
		s := c.schema
		return of(c,
			func() string {
				return fmt.Sprintf(`{"%s":[%s]}`, of(c, "allOf", "anyOf", "oneOf"), strings.TrimSuffix(strings.Repeat(s()+",", c.few()), ","))
			},
			func() string { return fmt.Sprintf(`{"not":%s}`, s()) },
			func() string { return fmt.Sprintf(`{"items":%s,"uniqueItems":true}`, s()) },
			func() string { return fmt.Sprintf(`{"additionalProperties":%s}`, s()) },
			func() string {
				return fmt.Sprintf(`{"patternProperties":{"%s":%s}}`, of(c, "^a*$", "(a|b)*c", "a{1,1000}"), s())
			},
			func() string { return fmt.Sprintf(`{"if":%s,"then":%s}`, s(), s()) },
			func() string { return fmt.Sprintf(`{"dependentSchemas":{"a":%s}}`, s()) },
		)()
	})
}

// rootSchema is one with what it refers to, or one that lets everything through.
func (c *composer) rootSchema() string {
	if of(c, true, true, false) {
		return "true"
	}
	return fmt.Sprintf(`{"definitions":{"d":%s},"%s":[%s,{}]}`, c.schema(), of(c, "allOf", "anyOf"), c.schema())
}

// yaml is a document with aliases or without.
func (c *composer) yaml() string {
	return of(c,
		func() string { return "a: b\n" },
		func() string { return lines("k#: v\n", c.few()) },
		func() string { return "l: [" + lines("#, ", c.few()) + "1]\n" },
		func() string { return strings.Repeat("[", 200) + strings.Repeat("]", 200) + "\n" },
		func() string {
			levels := 1 + c.IntN(9)
			text := "a0: &a0 [1,1,1,1,1,1,1,1]\n"
			for i := 1; i < levels; i++ {
				text += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 8), ","))
			}
			return text
		},
		func() string { return "a: " + strings.Repeat("x", c.size()) + "\n" },
		func() string { return "a: {<<: &m {b: c}, d: {<<: *m}}\n" },
		func() string { return "n: " + strings.Repeat("9", c.few()) + "e" + strings.Repeat("9", c.few()) + "\n" },
	)()
}
