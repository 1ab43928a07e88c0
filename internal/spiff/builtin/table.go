package builtin

import "sort"

// tables lists the tables of all groups. A new function is a new entry in the
// table of its group, nothing else.
func tables() [][]Function {
	return [][]Function{
		grouped(stringGroup, 1, stringFunctions),
		grouped(collectionGroup, 1, collectionFunctions),
		grouped(collectionGroup, 1, sortFunctions),
		grouped(conversionGroup, 1, conversionFunctions),
		grouped(conversionGroup, 3, mathFunctions),
		grouped(controlGroup, 1, awareFunctions),
		grouped(stringGroup, 2, regexpFunctions),
		grouped(hashGroup, 2, hashFunctions),
		grouped(networkGroup, 2, networkFunctions),
		grouped(networkGroup, 3, boshFunctions),
		grouped(versionGroup, 2, versionFunctions),
		grouped(validationGroup, 2, validationFunctions),
		grouped(fileGroup, 1, parseFunctions),
		grouped(fileGroup, 2, fileFunctions),
		grouped(secretGroup, 3, passwordFunctions),
		grouped(secretGroup, 3, keyFunctions),
		grouped(secretGroup, 3, certificateFunctions),
		grouped(secretGroup, 3, encryptionFunctions),
		grouped(secretGroup, 3, archiveFunctions),
		grouped(systemGroup, 3, systemFunctions),
	}
}

// grouped gives the functions of a table their group, and their tier unless
// they state another one.
func grouped(group Group, tier int, table []Function) []Function {
	for i := range table {
		table[i].Group = group
		if table[i].Tier == 0 {
			table[i].Tier = tier
		}
	}
	return table
}

var all = index()

func index() map[string]*Function {
	functions := map[string]*Function{}
	for _, table := range tables() {
		for i := range table {
			functions[table[i].Name] = &table[i]
		}
	}
	return functions
}

// Lookup returns the function of that name, or nil.
func Lookup(name string) *Function { return all[name] }

// All returns every function, by group and name.
func All() []*Function {
	list := make([]*Function, 0, len(all))
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
