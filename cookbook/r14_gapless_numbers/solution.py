#!/usr/bin/env python3
"""Gives each order the next invoice number, once, and prints the numbers.

    MYSQL_DATABASE=shop ./solution.py 4711 4712
"""

import os
import sys

import pymysql

DUPLICATE = 1062


def number(db, order):
    """Claims the order, then moves the counter, whose row is locked until COMMIT."""
    with db.cursor() as cursor:
        db.begin()
        try:
            cursor.execute("INSERT INTO invoice (order_id) VALUES (%s)", (order,))
            if cursor.execute("UPDATE series SET last_no = LAST_INSERT_ID(last_no + 1) WHERE name = 'invoice'") != 1:
                raise LookupError("there is no such series")
            cursor.execute("UPDATE invoice SET no = LAST_INSERT_ID() WHERE order_id = %s", (order,))
            db.commit()
        except Exception as err:
            db.rollback()  # a lock wait timeout, too, leaves the transaction open
            if err.args[:1] != (DUPLICATE,):
                raise
        cursor.execute("SELECT no FROM invoice WHERE order_id = %s", (order,))
        found = cursor.fetchone()
        if found is None:
            raise LookupError(f"another order has the number that order {order} was to have")
        return found[0]


def main():
    db = pymysql.connect(
        host=os.environ.get("MYSQL_HOST", "127.0.0.1"),
        port=int(os.environ.get("MYSQL_PORT", "3306")),
        user=os.environ.get("MYSQL_USER", "root"),
        password=os.environ.get("MYSQL_PASSWORD", ""),
        database=os.environ["MYSQL_DATABASE"],
        autocommit=True,
    )
    with db:
        for order in sys.argv[1:]:
            print(number(db, int(order)))


if __name__ == "__main__":
    main()
