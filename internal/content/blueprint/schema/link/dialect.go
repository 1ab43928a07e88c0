package link

import "maps"

// form says what the value of a keyword is.
type form int

const (
	// plainValue is taken over as it is.
	plainValue form = iota + 1
	oneSchema
	schemaList
	// schemasByName are the schemas of properties.
	schemasByName
	// schemasByPattern are schemas under regular Patterns.
	schemasByPattern
	// oneOrList is what "items" holds.
	oneOrList
	// dependency is a schema or a list of names, for each property.
	dependency
	patternText
	formatName
	// exclusive is a limit, or whether another limit belongs to the range.
	exclusive
	// nameSchema is what "propertyNames" holds.
	nameSchema
	// definitions are schemas that others refer to; they are checked.
	definitions
	// container holds schemas that count only if they are referred to.
	container
)

func (f form) holdsSchemas() bool {
	switch f {
	case oneSchema, schemaList, schemasByName, schemasByPattern, oneOrList, dependency, nameSchema, definitions, container:
		return true
	}
	return false
}

// dialect is a version of the language. Keywords that are not listed have no
// effect.
type dialect struct {
	name     string
	keywords map[string]form
	// ids are the keywords that give a schema an address; the first one counts.
	ids []string
	// flagBound allows "exclusiveMinimum: true", numberBound a number.
	flagBound, numberBound bool
}

var keywords4 = map[string]form{
	"type": plainValue, "enum": plainValue, "required": plainValue,
	"minimum": plainValue, "maximum": plainValue, "multipleOf": plainValue,
	"exclusiveMinimum": exclusive, "exclusiveMaximum": exclusive,
	"minLength": plainValue, "maxLength": plainValue, "pattern": patternText, "format": formatName,
	"minItems": plainValue, "maxItems": plainValue, "uniqueItems": plainValue,
	"minProperties": plainValue, "maxProperties": plainValue,
	"properties": schemasByName, "patternProperties": schemasByPattern, "additionalProperties": oneSchema,
	"items": oneOrList, "additionalItems": oneSchema, "dependencies": dependency,
	"allOf": schemaList, "anyOf": schemaList, "oneOf": schemaList, "not": oneSchema,
	"definitions": definitions,
}

var (
	keywords6 = with(keywords4, map[string]form{"const": plainValue, "contains": oneSchema, "propertyNames": nameSchema})
	keywords7 = with(keywords6, map[string]form{"if": oneSchema, "then": oneSchema, "else": oneSchema})
)

// hybrid takes the keywords of all drafts up to 7.
var hybrid = &dialect{
	name: "hybrid", keywords: with(keywords7, map[string]form{"$defs": container}),
	ids: []string{"$id", "id"}, flagBound: true, numberBound: true,
}

// dialects are the known ones by their URL.
var dialects = map[string]*dialect{
	"http://json-schema.org/draft-04/schema": {name: "draft 4", keywords: keywords4, ids: []string{"id"}, flagBound: true},
	"http://json-schema.org/draft-06/schema": {name: "draft 6", keywords: keywords6, ids: []string{"$id"}, numberBound: true},
	"http://json-schema.org/draft-07/schema": {name: "draft 7", keywords: keywords7, ids: []string{"$id"}, numberBound: true},
}

func with(base, more map[string]form) map[string]form {
	all := maps.Clone(base)
	maps.Copy(all, more)
	return all
}
