// Package builtin is the table of the functions of the language, made of those of its subpackages.
// The evaluator, the reference in the documentation and the tests all read it.
package builtin

import (
	"sort"

	"go.landscaper.dev/internal/content/template/spiff/builtin/address"
	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/builtin/checks"
	"go.landscaper.dev/internal/content/template/spiff/builtin/crypt"
	"go.landscaper.dev/internal/content/template/spiff/builtin/data"
	"go.landscaper.dev/internal/content/template/spiff/builtin/outside"
	"go.landscaper.dev/internal/content/template/spiff/builtin/text"
	"go.landscaper.dev/internal/content/template/spiff/builtin/versions"
)

// The groups of the documentation.
const (
	stringGroup     call.Group = "Strings"
	collectionGroup call.Group = "Lists and maps"
	conversionGroup call.Group = "Conversion and arithmetic"
	controlGroup    call.Group = "Definedness and control"
	hashGroup       call.Group = "Hashes and random values"
	networkGroup    call.Group = "Networks"
	versionGroup    call.Group = "Semantic versions"
	validationGroup call.Group = "Validation"
	fileGroup       call.Group = "Reading documents and files"
	secretGroup     call.Group = "Keys, passwords and encryption"
	systemGroup     call.Group = "The outside world"
)

// tables lists the tables of all groups. A new function is a new entry in the
// table of its group, nothing else.
func tables() [][]call.Function {
	return [][]call.Function{
		grouped(stringGroup, 1, text.Strings),
		grouped(collectionGroup, 1, data.Collections),
		grouped(collectionGroup, 1, data.Sorting),
		grouped(conversionGroup, 1, data.Conversions),
		grouped(conversionGroup, 3, data.Math),
		grouped(controlGroup, 1, awareFunctions),
		grouped(stringGroup, 2, text.Regexps),
		grouped(hashGroup, 2, crypt.Hashes),
		grouped(networkGroup, 2, address.Functions),
		grouped(networkGroup, 3, boshFunctions),
		grouped(versionGroup, 2, versions.Functions),
		grouped(validationGroup, 2, checks.Functions),
		grouped(fileGroup, 1, outside.Documents),
		grouped(fileGroup, 2, outside.Files),
		grouped(secretGroup, 3, crypt.Passwords),
		grouped(secretGroup, 3, crypt.Keys),
		grouped(secretGroup, 3, crypt.Certificates),
		grouped(secretGroup, 3, crypt.Encryption),
		grouped(secretGroup, 3, outside.Archives),
		grouped(systemGroup, 3, outside.System),
	}
}

// grouped gives the functions of a table their group, and their tier unless
// they state another one.
func grouped(group call.Group, tier int, table []call.Function) []call.Function {
	for i := range table {
		table[i].Group = group
		if table[i].Tier == 0 {
			table[i].Tier = tier
		}
	}
	return table
}

var all = index()

func index() map[string]*call.Function {
	functions := map[string]*call.Function{}
	for _, table := range tables() {
		for i := range table {
			functions[table[i].Name] = &table[i]
		}
	}
	return functions
}

// Lookup returns the function of that name, or nil.
func Lookup(name string) *call.Function { return all[name] }

// All returns every function, by group and name.
func All() []*call.Function {
	list := make([]*call.Function, 0, len(all))
	for _, f := range all {
		list = append(list, f)
	}
	sort.Slice(list, func(i, j int) bool {
		if list[i].Group != list[j].Group {
			return list[i].Group < list[j].Group
		}
		return list[i].Name < list[j].Name
	})
	return list
}
