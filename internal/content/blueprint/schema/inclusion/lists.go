package inclusion

import (
	"math/big"
	"slices"
	"strconv"
)

// lists compares the rules for the elements of lists.
func (c *comparison) lists(at []string, f *facts, to node) {
	if f.types&array == 0 {
		return
	}
	places := len(to.list("items"))
	for _, n := range f.nodes {
		places = max(places, len(n.list("items")))
	}
	longest := f.count(count{"maxItems", array, -1})
	beyond := func(place int) bool { return longest != nil && longest.Cmp(big.NewRat(int64(place), 1)) <= 0 }
	for place := range places {
		if !beyond(place) {
			c.elements(within(at, "["+strconv.Itoa(place)+"]"), f, to, place)
		}
	}
	if !beyond(places) {
		c.elements(within(at, anyElement), f, to, places)
	}
	if to.rules()["uniqueItems"] == true && !beyond(1) && !slices.ContainsFunc(f.nodes, func(n node) bool { return n.rules()["uniqueItems"] == true }) {
		c.report(at, Difference{Kind: Refused, Rule: "uniqueItems", To: "true"})
	}
}

// elements compares the rules for the element at a place.
func (c *comparison) elements(at []string, f *facts, to node, place int) {
	wanted, exists := to.element(place)
	if !exists {
		return
	}
	var from []node
	for _, n := range f.nodes {
		if own, has := n.element(place); has {
			from = append(from, own)
		}
	}
	c.include(at, from, wanted)
}

// element returns the rules for the element at a place.
func (n node) element(place int) (node, bool) {
	if items := n.list("items"); len(items) > 0 {
		if place < len(items) {
			return items[place], true
		}
		return n.child("additionalItems")
	}
	return n.child("items")
}
