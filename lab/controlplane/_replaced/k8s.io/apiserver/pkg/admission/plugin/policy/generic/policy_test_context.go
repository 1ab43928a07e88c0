// Package generic needs no fake clients in a program. The file that this one replaces serves
// tests.
package generic
