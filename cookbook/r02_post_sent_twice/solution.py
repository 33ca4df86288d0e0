#!/usr/bin/env python3
"""Pays an amount once for each key, and prints the payments' ids.

    MYSQL_DATABASE=shop ./solution.py 30 key-1 key-2
"""

import os
import sys

import pymysql

DUPLICATE = 1062


def pay(db, key, amount):
    """Writes the key first. Whoever comes second waits for the first one's COMMIT, and reads its result."""
    with db.cursor() as cursor:
        db.begin()
        try:
            cursor.execute("INSERT INTO request (idempotency_key, amount) VALUES (%s, %s)", (key, amount))
            cursor.execute("INSERT INTO payment (amount) VALUES (%s)", (amount,))
            payment = cursor.lastrowid
            cursor.execute("UPDATE request SET payment_id = %s WHERE idempotency_key = %s", (payment, key))
            db.commit()
            return payment
        except Exception as err:
            db.rollback()  # a lock wait timeout, too, leaves the transaction open
            if err.args[:1] != (DUPLICATE,):
                raise
        cursor.execute("SELECT amount, payment_id FROM request WHERE idempotency_key = %s", (key,))
        first, payment = cursor.fetchone()
        if first != amount:
            raise ValueError(f"the key {key} belongs to another request")
        return payment


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
        for key in sys.argv[2:]:
            print(pay(db, key, int(sys.argv[1])))


if __name__ == "__main__":
    main()
