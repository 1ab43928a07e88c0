package link

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
)

// translate returns a schema in the form of draft 7, without keywords that have no
// effect and with references to definitions.
func (l *linker) translate(d *document, at pointer, base string, node any) (any, error) {
	if l.schemas++; l.schemas > MaxSchemas {
		return nil, fmt.Errorf("more than %d schemas belong to the schema", MaxSchemas)
	}
	if err := errors.Join(l.ctx.Err(), l.spend(at)); err != nil {
		return nil, fmt.Errorf("the compilation ends: %w", err)
	}
	object, ok := node.(map[string]any)
	if !ok {
		if allowed, ok := node.(bool); ok {
			return allowed, nil
		}
		return nil, fmt.Errorf("%s: a schema is an object, true or false, not %s", d.at(at), article(TypeName(node)))
	}
	if own, known := d.bases[at]; known {
		base = own
	}
	t := translation{linker: l, document: d, at: at, base: base, from: object, to: map[string]any{}}
	// In a fixed order, so that always the same error is reported.
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if form := d.dialect.keywords[name]; form != 0 {
			if err := t.keyword(name, form, object[name]); err != nil {
				return nil, err
			}
		}
	}
	if err := t.reference(); err != nil {
		return nil, err
	}
	return t.to, nil
}

// translation is a schema that is being translated.
type translation struct {
	*linker
	document *document
	at       pointer
	base     string
	from, to map[string]any
}

func (t *translation) fail(err error, names ...string) error {
	return fmt.Errorf("%s: %w", t.document.at(t.at, names...), err)
}

// reference adds what the schema refers to. In drafts 4 to 7 keywords beside a reference have no
// effect, which surprises and hides mistakes; they count here.
func (t *translation) reference() error {
	value, exists := t.from["$ref"]
	if !exists {
		return nil
	}
	text, ok := value.(string)
	if !ok {
		return t.fail(fmt.Errorf("a reference must be a string, not %s", article(TypeName(value))), "$ref")
	}
	found, reference, err := t.resolve(t.document, t.base, text)
	if err != nil {
		return fmt.Errorf("error resolving reference at %s: %q: %w", t.document.at(t.at, "$ref"), text, err)
	}
	if reference == "" {
		reference = t.definition(found)
	}
	to := map[string]any{"$ref": reference}
	if len(t.to) == 0 {
		t.to = to
		return nil
	}
	all, _ := t.to["allOf"].([]any)
	t.to["allOf"] = append(all, to)
	return nil
}

func (t *translation) keyword(name string, form form, value any) error {
	switch form {
	case plainValue:
		t.plain(name, value)
	case patternText:
		if text, ok := value.(string); ok {
			if err := t.patterns.add(text); err != nil {
				return t.fail(err, name)
			}
		}
		t.to[name] = value
	case formatName:
		text, ok := value.(string)
		if !ok {
			return t.fail(fmt.Errorf("a format is a string, not %s", article(TypeName(value))), name)
		}
		if Formats[text] != nil {
			t.to[name] = FormatPrefix + text
		}
	case exclusive:
		return t.exclusive(name, value)
	case nameSchema:
		at := t.at.child(name)
		t.to[NamesKeyword] = t.definition(place{t.document, at})
		return t.spend(at)
	case definitions, container:
		return t.definitions(name, form, value)
	default:
		return t.children(name, form, value)
	}
	return nil
}

func (t *translation) plain(name string, value any) {
	list, isList := value.([]any)
	switch {
	case name == "type" && isList && len(list) == 0:
		// An empty list of types is no rule.
	case name == "minimum" && t.from["exclusiveMinimum"] == true, name == "maximum" && t.from["exclusiveMaximum"] == true:
		// The exclusive limit takes its place.
	default:
		t.to[name] = value
	}
}

// exclusive translates a limit that may be a flag beside another limit.
func (t *translation) exclusive(name string, value any) error {
	flag, isFlag := value.(bool)
	d := t.document.dialect
	switch {
	case isFlag && !d.flagBound:
		return t.fail(fmt.Errorf("it must be a number in %s, not a boolean", d.name), name)
	case !isFlag && !d.numberBound:
		return t.fail(fmt.Errorf("it must be true or false in %s, not %s", d.name, article(TypeName(value))), name)
	case !isFlag:
		t.to[name] = value
	case flag:
		limit := map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}[name]
		bound, exists := t.from[limit]
		if !exists {
			return t.fail(fmt.Errorf("%s is missing beside it", limit), name)
		}
		t.to[name] = bound
	}
	return nil
}

// definitions makes sure that definitions are checked even if no reference leads to them.
func (t *translation) definitions(name string, form form, value any) error {
	if form == container {
		return nil
	}
	all, ok := value.(map[string]any)
	if !ok {
		return t.fail(fmt.Errorf("it must be an object, not %s", article(TypeName(value))), name)
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		at := t.at.child(name, key)
		if err := t.spend(at); err != nil {
			return err
		}
		t.number(place{t.document, at})
	}
	return nil
}

// children translates a keyword that holds schemas. A value of the wrong form is copied; the schema
// of schemas says what is wrong then.
func (t *translation) children(name string, form form, value any) error {
	child := func(value any, names ...string) (any, error) {
		return t.translate(t.document, t.at.child(names...), t.base, value)
	}
	switch held := value.(type) {
	case []any:
		if form != schemaList && form != oneOrList {
			break
		}
		if len(held) == 0 {
			return nil
		}
		all := make([]any, len(held))
		for i, element := range held {
			var err error
			if all[i], err = child(element, name, strconv.Itoa(i)); err != nil {
				return err
			}
		}
		t.to[name] = all
		return nil
	case map[string]any:
		if form == oneSchema || form == oneOrList {
			break
		}
		return t.byName(name, form, held)
	}
	if form == oneSchema || form == oneOrList {
		translated, err := child(value, name)
		t.to[name] = translated
		return err
	}
	t.to[name] = value
	return nil
}

func (t *translation) byName(name string, form form, held map[string]any) error {
	all := make(map[string]any, len(held))
	for _, key := range slices.Sorted(maps.Keys(held)) {
		if form == schemasByPattern {
			if err := t.patterns.add(key); err != nil {
				return t.fail(err, name)
			}
		}
		if _, isList := held[key].([]any); isList && form == dependency {
			all[key] = held[key]
			continue
		}
		translated, err := t.translate(t.document, t.at.child(name, key), t.base, held[key])
		if err != nil {
			return err
		}
		all[key] = translated
	}
	t.to[name] = all
	return nil
}

// elements returns what a list or object holds, with its name.
func elements(value any) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		switch held := value.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(held)) {
				element := held[name]
				if !yield(name, element) {
					return
				}
			}
		case []any:
			for i, element := range held {
				if !yield(strconv.Itoa(i), element) {
					return
				}
			}
		}
	}
}
