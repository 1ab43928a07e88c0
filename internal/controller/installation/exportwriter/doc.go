// Package exportwriter writes what an Installation holds besides its children: the copies of
// what it imports, and what it exports. It refuses to write over what belongs to somebody
// else, and removes what no job wants any more. It must never decide what is to be there.
package exportwriter
