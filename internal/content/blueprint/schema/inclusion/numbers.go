package inclusion

import (
	"encoding/json"
	"math/big"
)

// bound is the end of a range. Without a value, the range has no end.
type bound struct {
	value *big.Rat
	// open says that the value itself does not belong to the range.
	open bool
	// shown is the bound in messages.
	shown string
}

// rational reads a number of a schema.
func rational(value any) *big.Rat {
	literal, ok := value.(json.Number)
	if !ok {
		return nil
	}
	parsed, ok := new(big.Rat).SetString(literal.String())
	if !ok {
		return nil
	}
	return parsed
}

// ends are the two ends of a range: their keywords, and which of two values is the tighter one.
type end struct {
	closed, open string
	// sign is 1 if the larger value is tighter.
	sign int
}

var (
	lowEnd  = end{"minimum", "exclusiveMinimum", 1}
	highEnd = end{"maximum", "exclusiveMaximum", -1}
)

func (f *facts) low() bound  { return f.bound(lowEnd) }
func (f *facts) high() bound { return f.bound(highEnd) }

// of returns the tighter bound of a schema at an end.
func (e end) of(n node) bound {
	found := bound{}
	if value := rational(n.rules()[e.closed]); value != nil {
		found = bound{value, false, value.RatString()}
	}
	if value := rational(n.rules()[e.open]); value != nil {
		open := bound{value, true, value.RatString() + ", not included"}
		if !e.within(found, open) {
			found = open
		}
	}
	return found
}

// bound returns the tightest bound. Of integers it is an integer.
func (f *facts) bound(e end) bound {
	tightest := bound{}
	for _, n := range f.nodes {
		if b := e.of(n); b.value != nil && !e.within(tightest, b) {
			tightest = b
		}
	}
	if f.types&fraction == 0 && tightest.value != nil {
		return e.whole(tightest)
	}
	return tightest
}

// within reports whether all values up to one bound are within the other.
func (e end) within(b, other bound) bool {
	if other.value == nil {
		return true
	}
	if b.value == nil {
		return false
	}
	order := b.value.Cmp(other.value) * e.sign
	return order > 0 || (order == 0 && (b.open || !other.open))
}

// whole returns the last integer of the range.
func (e end) whole(b bound) bound {
	floor := new(big.Int).Div(b.value.Num(), b.value.Denom()) // towards minus infinity, since Denom is positive
	last := floor
	switch {
	case b.value.IsInt() && b.open:
		last = new(big.Int).Add(floor, big.NewInt(int64(e.sign)))
	case !b.value.IsInt() && e.sign > 0:
		last = new(big.Int).Add(floor, big.NewInt(1))
	}
	return bound{value: new(big.Rat).SetInt(last), shown: b.shown}
}

// numbers compares the rules for numbers.
func (c *comparison) numbers(at []string, f *facts, to node) {
	if f.types&number == 0 {
		return
	}
	for _, e := range []end{lowEnd, highEnd} {
		from, limit := f.bound(e), e.of(to)
		if !e.within(from, limit) {
			d := Difference{Kind: Refused, Rule: e.closed, From: from.shown, To: limit.shown}
			if f.hasRule("multipleOf") {
				d.Kind = Undecided // there may be no multiple between the two
			}
			c.report(at, d)
		}
	}
	step := rational(to.rules()["multipleOf"])
	if step == nil || step.Sign() == 0 || (step.Num().IsInt64() && step.Num().Int64() == 1 && f.types&fraction == 0) {
		return // integers are multiples of 1, 1/2, 1/3 and so on
	}
	shown := ""
	for _, n := range f.nodes {
		own := rational(n.rules()["multipleOf"])
		if own == nil {
			continue
		}
		if new(big.Rat).Quo(own, step).IsInt() {
			return
		}
		shown = own.RatString()
	}
	kind := Refused
	if f.low().value != nil && f.high().value != nil {
		kind = Undecided // the few numbers of the range may all be multiples
	}
	c.report(at, Difference{Kind: kind, Rule: "multipleOf", From: shown, To: step.RatString()})
}

// count is a rule about how many of something a value has.
type count struct {
	keyword string
	types   types
	// sign is 1 for the smallest number, -1 for the largest one.
	sign int
}

var countRules = []count{
	{"minLength", text, 1}, {"maxLength", text, -1},
	{"minItems", array, 1}, {"maxItems", array, -1},
	{"minProperties", object, 1}, {"maxProperties", object, -1},
}

// counts compares the rules about lengths and sizes.
func (c *comparison) counts(at []string, f *facts, to node) {
	for _, rule := range countRules {
		limit := rational(to.rules()[rule.keyword])
		if limit == nil || f.types&rule.types == 0 {
			continue
		}
		own := f.count(rule)
		if own == nil && rule.sign > 0 {
			own = new(big.Rat)
		}
		if own != nil && own.Cmp(limit)*rule.sign >= 0 {
			continue
		}
		d := Difference{Kind: Refused, Rule: rule.keyword, To: limit.RatString()}
		if own != nil && (rule.sign < 0 || own.Sign() != 0) {
			d.From = own.RatString()
		}
		if !c.reached(f, to, rule) {
			d.Kind = Undecided
		}
		c.report(at, d)
	}
}

// reached reports whether values come to the limit: other rules may limit them, too.
func (c *comparison) reached(f *facts, to node, rule count) bool {
	switch rule.types {
	case text:
		if !f.hasRule("pattern", "format") {
			return true
		}
		_, found := f.onlyOf(to)
		return found
	case array:
		return rule.sign > 0 || !f.hasRule("uniqueItems")
	}
	return rule.sign > 0 || !isFalse(f.others())
}

// count returns the tightest number that a rule allows; nil without one.
func (f *facts) count(rule count) *big.Rat {
	var tightest *big.Rat
	take := func(value *big.Rat) {
		if value != nil && (tightest == nil || value.Cmp(tightest)*rule.sign > 0) {
			tightest = value
		}
	}
	for _, n := range f.nodes {
		take(rational(n.rules()[rule.keyword]))
		if rule.keyword != "maxItems" {
			continue
		}
		for place := range len(n.list("items")) + 1 {
			if element, has := n.element(place); has && isFalse([]node{element}) {
				take(big.NewRat(int64(place), 1))
			}
		}
	}
	if rule.keyword == "minProperties" {
		take(big.NewRat(int64(len(f.required())), 1))
	}
	return tightest
}
