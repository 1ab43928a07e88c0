// Package syntax knows the expression language: its tree, its parser and the
// canonical text of an expression. It knows nothing about documents or values.
package syntax

// Expr is a node of an expression tree. Trees are immutable after parsing and
// may be shared between goroutines.
type Expr interface{ expr() }

// Step is one step of a path: a field name, or a list position if IsIndex.
type Step struct {
	Key     string
	Index   int
	IsIndex bool
}

// Item is an element of an argument list or list literal. Spread marks the
// trailing "..." that splices a list.
type Item struct {
	Value  Expr
	Spread bool
}

// Entry is one assignment of a map or scope literal.
type Entry struct{ Key, Value Expr }

// Named is a named argument; Name may be a parameter number.
type Named struct {
	Name  string
	Value Expr
}

// Param is a lambda parameter; Default is nil for a required one.
type Param struct {
	Name    string
	Default Expr
}

type (
	// Nil is the literal nil.
	Nil struct{}
	// Undefined is the literal ~~.
	Undefined struct{}
	// Bool is a boolean literal.
	Bool struct{ Value bool }
	// Int is an integer literal.
	Int struct{ Value int64 }
	// Float is a literal with fraction or exponent.
	Float struct{ Value float64 }
	// Text is a string literal; Bare marks an IP address written without quotes.
	Text struct {
		Value string
		Bare  bool
	}
	// Ref is a static path: relative, absolute or below a tag.
	Ref struct {
		Tag      string
		Absolute bool
		Steps    []Step
	}
	// Index is a dynamic index; a nil Base is the document root.
	Index struct {
		Base  Expr
		Items []Item
	}
	// Qualify follows a static path from a computed value.
	Qualify struct {
		Base  Expr
		Steps []Step
	}
	// Project applies Rest to each element of Base, or of the slice of it.
	// Rest is rooted in Element and nil if the elements are taken as they are.
	Project struct {
		Base  Expr
		Slice *Range
		Rest  Expr
	}
	// Element is the current element inside the Rest of a Project.
	Element struct{}
	// Call is a function call or, with Curry, a partial application. Builtin
	// is set instead of Fn if a bare name is called.
	Call struct {
		Builtin string
		Fn      Expr
		Named   []Named
		Args    []Item
		Curry   bool
	}
	// Group is a bracketed expression.
	Group struct{ Body Expr }
	// List is a list literal.
	List struct{ Items []Item }
	// Map is a map literal.
	Map struct{ Entries []Entry }
	// Range is a range literal, or the bounds of a slice (which may be nil).
	Range struct{ From, To Expr }
	// Binary is an operator with two operands.
	Binary struct {
		Op   Op
		L, R Expr
	}
	// Cond is the conditional operator.
	Cond struct{ If, Then, Else Expr }
	// Not is boolean negation.
	Not struct{ Operand Expr }
	// Instantiate evaluates a template.
	Instantiate struct{ Operand Expr }
	// Merge takes a value from the stubs.
	Merge struct {
		Replace, Required bool
		On                string
		Redirect          bool
		Path              []Step
	}
	// Auto is the historical "auto" expression.
	Auto struct{}
	// Lambda is a function literal.
	Lambda struct {
		Params   []Param
		Variadic bool
		Body     Expr
		// Inline lambdas belong to a mapping and are no values of their own.
		Inline bool
	}
	// LambdaOf computes a lambda from a lambda value or its text.
	LambdaOf struct{ Operand Expr }
	// Scope is a scope literal in front of an expression.
	Scope struct {
		Entries []Entry
		Body    Expr
	}
	// Mapping is one of map, select, filter, sum, catch with brackets.
	Mapping struct {
		Kind   MappingKind
		Curly  bool
		Source Expr
		Init   Expr // sum only
		Fn     Expr // an inline Lambda, or an expression yielding a lambda
	}
	// Sync repeats an expression until a condition holds.
	Sync struct {
		Source, Cond, Value, Timeout Expr
		// Shared is set if Value uses the parameters of the inline condition.
		Shared bool
	}
	// Prefer asks for field by field merging of the result.
	Prefer struct{ Body Expr }
	// Marked carries markers and an optional value.
	Marked struct {
		Markers []Marker
		Body    Expr   // the content of the group, nil if it is empty
		Source  string // text of the group with its brackets
	}
)

// Marker is a marker in front of an expression. Tag markers carry the name.
type Marker struct {
	Name   string
	Tag    string
	Global bool
}

// MappingKind distinguishes the words of the mapping family.
type MappingKind string

// The mapping words.
const (
	MapKind    MappingKind = "map"
	SelectKind MappingKind = "select"
	FilterKind MappingKind = "filter"
	SumKind    MappingKind = "sum"
	CatchKind  MappingKind = "catch"
)

// Op is a binary operator.
type Op string

// The binary operators; Join is the juxtaposition of two operands.
const (
	Or        Op = "||"
	OrNil     Op = "//"
	Join      Op = ""
	LogOr     Op = "-or"
	LogAnd    Op = "-and"
	Equal     Op = "=="
	Unequal   Op = "!="
	LessEq    Op = "<="
	GreaterEq Op = ">="
	Less      Op = "<"
	Greater   Op = ">"
	Add       Op = "+"
	Sub       Op = "-"
	Mul       Op = "*"
	Div       Op = "/"
	Mod       Op = "%"
)

func (Nil) expr()          {}
func (Undefined) expr()    {}
func (Bool) expr()         {}
func (Int) expr()          {}
func (Float) expr()        {}
func (Text) expr()         {}
func (*Ref) expr()         {}
func (*Index) expr()       {}
func (*Qualify) expr()     {}
func (*Project) expr()     {}
func (Element) expr()      {}
func (*Call) expr()        {}
func (*Group) expr()       {}
func (*List) expr()        {}
func (*Map) expr()         {}
func (*Range) expr()       {}
func (*Binary) expr()      {}
func (*Cond) expr()        {}
func (*Not) expr()         {}
func (*Instantiate) expr() {}
func (*Merge) expr()       {}
func (Auto) expr()         {}
func (*Lambda) expr()      {}
func (*LambdaOf) expr()    {}
func (*Scope) expr()       {}
func (*Mapping) expr()     {}
func (*Sync) expr()        {}
func (*Prefer) expr()      {}
func (*Marked) expr()      {}
