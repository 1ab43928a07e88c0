// Package exportwriter writes what an Installation holds besides its children: the copies of what
// it imports, and what it exports. It refuses to overwrite objects of other owners, and removes
// those that no job wants any more. It must never decide which objects are wanted.
package exportwriter
