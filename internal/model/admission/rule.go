package admission

// Rule is one condition on objects of a kind.
type Rule struct {
	// ID names the rule in policies and documents.
	ID string
	// Path is the field of the rule, as a user writes it.
	Path string
	// Where is a CEL expression on the object without which nothing can violate the
	// rule: the API server need not look further. Without it, it always looks.
	Where string
	// Offenders is a CEL expression that lists what violates the rule, as names.
	// An object is fine if the list is empty.
	Offenders string
	// Violated is a CEL expression for rules with one offender at most, and Offender
	// its name. It is cheaper than a list.
	Violated, Offender string
	// Problem says what is wrong with the offenders and what to do.
	Problem string
	// Warn lets the object pass with a warning.
	Warn bool
}

// Kind is a kind together with its rules.
type Kind struct {
	// Resource is the plural name of the kind.
	Resource string
	// Parent is the kind whose controller makes objects of this kind from checked input, so that
	// the API server need not check them when they are made. A user who forges such an owner can as
	// well use the label that switches validation off; controllers check again in any case.
	Parent string
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

// where sets what rules have in common without which nothing can violate them.
func where(expression string, rules ...Rule) []Rule {
	for i := range rules {
		rules[i].Where = expression
	}
	return rules
}

// filled returns an expression that holds if a list or a map below the specification has
// elements.
func filled(path string) string { return "object.?spec.?" + path + ".orValue([]).size() > 0" }

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
