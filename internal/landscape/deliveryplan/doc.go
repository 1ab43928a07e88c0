// Package deliveryplan has the form in which a plan that needs an approval is stored: what people see of
// it, and what its job is permitted to write, each Installation of the tree with its children.
package deliveryplan
