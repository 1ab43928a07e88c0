// Package answerlimit bounds what clusters may cost this process: the bytes of their answers,
// the memory that these take, and the time of a request.
package answerlimit
