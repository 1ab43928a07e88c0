package admission

// Rule is one condition on objects of a kind.
type Rule struct {
	// ID names the rule in policies and documents.
	ID string
	// Path is the field that the rule is about, as a user writes it.
	Path string
	// Offenders is a CEL expression that lists what violates the rule, as names.
	// An object is fine if the list is empty.
	Offenders string
	// Problem tells what is wrong with the offenders and what to do.
	Problem string
	// Warn lets the object pass with a warning.
	Warn bool
}

// Kind is a kind together with its rules.
type Kind struct {
	// Resource is the plural name of the kind.
	Resource string
	// Variables are CEL expressions that the rules share, in order.
	Variables []Variable
	// Rules are the conditions.
	Rules []Rule
}

// Variable is a named CEL expression.
type Variable struct {
	// Name is the name under which the rules use it.
	Name string
	// Expression is its value.
	Expression string
}

// when returns an offenders expression with one element if a condition holds.
func when(condition, offender string) string {
	return "(" + condition + ") ? [" + offender + "] : []"
}

// named returns an offenders expression: the names of the elements of a list
// for which a condition on the element e holds.
func named(list, condition string) string {
	return list + ".filter(e, " + condition + ").map(e, e.?name.orValue('') == '' ? '(without a name)' : e.name)"
}

// duplicates returns an offenders expression: the elements that a list of
// strings holds more than once.
func duplicates(list string) string {
	return list + ".filter(n, n != '' && " + list + ".indexOf(n) != " + list + ".lastIndexOf(n))"
}
