// Package revision says which specifications of a root are kept, to which one a user may go back, and when
// the server does so by itself. It knows neither clients nor a clock, and writes nothing.
package revision
